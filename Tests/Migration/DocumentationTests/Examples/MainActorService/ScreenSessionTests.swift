import AccessTokenContract
import Testing

@Suite("A service of the main actor")
struct ScreenSessionTests {
    @Test func `keeps the contract`() async {
        let report = await ServiceContract.verify(mainActorSubject)
        #expect(report.isKept, "\(report)")
    }

    @Test func `is judged while the main thread runs what is the main actor's`() async {
        let subject = ContractSubject("clears a newer load", features: [.asyncCallers]) { fixture in
            let session = await EveryCallerClears { try await fixture.loader.load(replacing: nil) }
            return .awaiting { try await session.validToken() }
        }
        let report = await ServiceContract.verify(subject)
        #expect(report.brokenIDs == ["S3"], "\(report)")
    }
}

/// Each caller forgets the shared load, also when another one is running by then.
@MainActor
private final class EveryCallerClears {
    private let request: @Sendable () async throws -> AccessToken
    private var token: AccessToken?
    private var tokenTask: Task<AccessToken, any Error>?

    init(request: @escaping @Sendable () async throws -> AccessToken) { self.request = request }

    func validToken() async throws -> AccessToken {
        if let token { return token }
        defer { tokenTask = nil }
        let task = tokenTask ?? Task { try await request() }
        tokenTask = task
        token = try await task.value
        return try await task.value
    }
}
