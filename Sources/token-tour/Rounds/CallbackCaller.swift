import AccessTokenGCD
import AccessTokenOAuth

/// A caller of the callback world: a token, the resource, and once more after a 401.
struct CallbackCaller: Sendable {
    let service: any AccessTokenProviding
    let resource: ResourceClient
    let log: CallerLog

    /// Tells `handler` whether it was served in the end.
    func call(then handler: @escaping @Sendable (CallEnd) -> Void) {
        attempt(isSecond: false, then: handler)
    }

    private func attempt(isSecond: Bool, then handler: @escaping @Sendable (CallEnd) -> Void) {
        log.asks(again: isSecond)
        service.retrieveToken { result in
            switch result {
            case .success(let token):
                log.hears(token)
                use(token, isSecond: isSecond, then: handler)
            case .failure(let error):
                log.hears(error)
                handler(.noToken(error))
            }
        }
    }

    private func use(_ token: AccessToken, isSecond: Bool, then handler: @escaping @Sendable (CallEnd) -> Void) {
        log.sends(token)
        resource.request(with: token) { result in
            switch result {
            case .success(let reply):
                log.receives(reply, for: token)
                guard reply.status == 401, !isSecond else { return handler(.answered(reply.status)) }
                // The token that was sent: by now the service may have a newer one.
                log.rejects(token)
                service.invalidate(token)
                attempt(isSecond: true, then: handler)
            case .failure(let error):
                log.receives(error)
                handler(.unserved("\(error)"))
            }
        }
    }
}
