import AccessTokenContract
import Testing

/// The session of an app whose code is isolated to the main actor, as that of new Xcode projects is by default.
@MainActor
final class ScreenSession {
    private let request: @Sendable () async throws -> AccessToken
    private var token: AccessToken?
    private var tokenTask: Task<AccessToken, any Error>?

    init(request: @escaping @Sendable () async throws -> AccessToken) { self.request = request }

    func validToken() async throws -> AccessToken {
        if let token { return token }
        let task =
            tokenTask
            ?? Task {
                defer { tokenTask = nil }
                let new = try await request()
                token = new
                return new
            }
        tokenTask = task
        return try await task.value
    }

    func reject(_ rejected: AccessToken) {
        if token == rejected { token = nil }
    }
}

let mainActorSubject = ContractSubject("our session", features: [.invalidation, .asyncCallers]) { fixture in
    let session = await ScreenSession { try await fixture.loader.load(replacing: nil) }
    return .awaiting {
        try await session.validToken()
    } invalidate: { token in
        await session.reject(token)
    }
}

@Suite("A service of the main actor")
struct ScreenSessionTests {
    @Test func `keeps the contract`() async {
        let report = await ServiceContract.verify(mainActorSubject, scripts: 20)
        #expect(report.isKept, "\(report)")
    }
}
