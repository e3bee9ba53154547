import LoopbackAuthorizationServer

extension AuthorizationServerEvent {
    /// What the diagram shows of the server's log: the token endpoint.
    ///
    /// The resource's side is recorded by the callers, who know which world they belong to.
    var steps: [Step] {
        switch self {
        case .tokenRequested(let name):
            [.request(from: .service, to: .server, "POST /token, \(text(name))")]
        case .tokenIssued(let access, let refresh):
            [.answer(from: .server, to: .service, "200 \(access), \(refresh)")]
        case .reuseDetected(let name):
            [.note(.server, "\(name) is used again")]
        case .familyRevoked:
            [.note(.server, "revokes all tokens")]
        case .tokenRefused(let code):
            [.answer(from: .server, to: .service, "400 \(code)")]
        case .resourceRequested, .resourceServed, .resourceRefused:
            []
        case .requestRejected(let status):
            [.note(.server, "rejected: \(status)")]
        }
    }

    private func text(_ name: TokenName?) -> String {
        name?.description ?? "unknown"
    }
}
