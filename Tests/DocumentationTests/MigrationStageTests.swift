import AccessTokenAdapters
import Testing

/// One service owns the cache at every stage: two callers at once cost one request, whichever worlds they are of.
@Suite("Every stage of the migration serves all callers with one request")
struct MigrationStageTests {
    let endpoint = YourEndpoint()
    let server = FriendsServer()
    let friends = ["a friend, for token 1"]

    @Test func `stage 0`() async throws {
        let app = Stage0.App(endpoint: endpoint, server: server)
        async let first = value { app.friends.friends(then: $0) }
        async let second = value { app.session.retrieveToken(then: $0) }
        #expect(try await first == friends)
        #expect(try await second.value == "token 1")
        #expect(endpoint.requests == 1)
    }

    @Test func `stage 1`() async throws {
        let app = Stage1.App(endpoint: endpoint, server: server)
        async let first = value { app.friends.friends(then: $0) }
        async let second = value { handler in _ = app.tokens.retrieveToken(then: handler) }
        #expect(try await first == friends)
        #expect(try await second.value == "token 1")
        #expect(endpoint.requests == 1)
    }

    @Test func `stage 2`() async throws {
        let app = Stage2.App(endpoint: endpoint, server: server)
        async let first = value { app.friends.friends(then: $0) }
        async let second = value { handler in _ = app.tokens.retrieveToken(then: handler) }
        #expect(try await first == friends)
        #expect(try await second.value == "token 1")
        #expect(endpoint.requests == 1)
    }

    @Test func `stage 3, a caller of each world`() async throws {
        let app = Stage3.App(endpoint: endpoint, server: server)
        async let first = app.friends.friends()
        async let second = value { handler in _ = app.tokens.retrieveToken(then: handler) }
        #expect(try await first == friends)
        #expect(try await second.value == "token 1")
        #expect(endpoint.requests == 1)
    }

    @Test func `stage 3, a caller of a converted leaf that is not converted itself`() async throws {
        let app = Stage3.App(endpoint: endpoint, server: server)
        #expect(try await value { app.friends.friends(then: $0) } == friends)
    }

    @Test func `stage 4`() async throws {
        let app = Stage4.App(endpoint: endpoint, server: server)
        async let first = app.friends.friends()
        async let second = app.tokens.token()
        #expect(try await first == friends)
        #expect(try await second.value == "token 1")
        #expect(endpoint.requests == 1)
    }

    private func value<Value: Sendable>(
        _ call: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            call { continuation.resume(with: $0) }
        }
    }
}
