import LoopbackAuthorizationServer
import TestSupport
import Testing

@testable import TokenTour

@Suite("The server rotates refresh tokens", .eightAtATime, .timeLimit(.minutes(10)))
struct RotationTests {
    @Test("A refresh token brings a new pair, and both access tokens are good")
    func rotation() async throws {
        try await withServer { server in
            let first = server.signIn()
            let (status, second) = try await server.exchange(first.refreshToken)
            #expect(status == 200)
            #expect(second.token_type == "Bearer")
            #expect(second.expires_in == 3600)
            let access = try #require(second.access_token)
            let refresh = try #require(second.refresh_token)
            #expect(access != first.accessToken)
            #expect(refresh != first.refreshToken)
            #expect(try await server.status(for: access) == 200)
            #expect(try await server.status(for: first.accessToken) == 200)
            #expect(try await server.exchange(refresh).status == 200)
            #expect(server.tally.tokenRequests == 2)
            #expect(server.tally.reuses == 0)
        }
    }

    @Test("Reuse revokes the family: the newest refresh token and the newest access token too")
    func reuse() async throws {
        try await withServer { server in
            let first = server.signIn()
            let second = try await server.exchange(first.refreshToken).reply
            let access = try #require(second.access_token)
            let refresh = try #require(second.refresh_token)

            let reuse = try await server.exchange(first.refreshToken)
            #expect(reuse.status == 400)
            #expect(reuse.reply.error == "invalid_grant")
            #expect(server.isRevoked(family: first.refreshName.family))
            #expect(try await server.status(for: access) == 401)
            let newest = try await server.exchange(refresh)
            #expect(newest.status == 400)
            #expect(newest.reply.error == "invalid_grant")
            #expect(server.tally.reuses == 1)
            #expect(server.tally.revokedFamilies == 1)
        }
    }

    @Test("In a period of grace, a spent refresh token brings what it brought before, and nothing is revoked")
    func grace() async throws {
        let server = try RotatingAuthorizationServer(grace: 3600)
        defer { server.stop() }
        let first = server.signIn()
        let second = try await server.exchange(first.refreshToken).reply
        let third = try await server.exchange(try #require(second.refresh_token)).reply
        for _ in 0..<2 {
            let again = try await server.exchange(first.refreshToken)
            #expect(again.status == 200)
            #expect(again.reply.refresh_token == second.refresh_token)
            #expect(again.reply.access_token == second.access_token)
        }
        #expect(try await server.status(for: try #require(third.access_token)) == 200)
        #expect(server.tally.reuses == 0)
        #expect(server.tally.revokedFamilies == 0)
    }

    @Test(
        "A period of grace may have any length: without an end, or none at all",
        arguments: [(.infinity, 200), (1e300, 200), (-1, 400), (-.infinity, 400), (.nan, 400)] as [(Double, Int)]
    )
    func oddGrace(seconds: Double, status: Int) async throws {
        let server = try RotatingAuthorizationServer(grace: seconds)
        defer { server.stop() }
        let first = server.signIn()
        _ = try await server.exchange(first.refreshToken)
        #expect(try await server.exchange(first.refreshToken).status == status)
    }

    @Test("Reuse in one family leaves the others alone")
    func otherFamilies() async throws {
        try await withServer { server in
            let (one, other) = (server.signIn(), server.signIn())
            _ = try await server.exchange(one.refreshToken)
            _ = try await server.exchange(one.refreshToken)
            #expect(try await server.status(for: one.accessToken) == 401)
            #expect(try await server.status(for: other.accessToken) == 200)
            #expect(try await server.exchange(other.refreshToken).status == 200)
        }
    }

    @Test("A token that the server never issued is refused, and revokes nothing")
    func unknownToken() async throws {
        try await withServer { server in
            let pair = server.signIn()
            for token in ["made up", pair.accessToken] {
                let (status, reply) = try await server.exchange(token)
                #expect(status == 400)
                #expect(reply.error == "invalid_grant")
            }
            #expect(try await server.status(for: pair.refreshToken) == 401)
            #expect(try await server.status(for: pair.accessToken) == 200)
            #expect(server.tally.revokedFamilies == 0)
        }
    }

    @Test("Of many requests with one token at the same moment one is served, and the family is lost")
    func parallelReuse() async throws {
        try await withServer { server in
            let pair = server.signIn()
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await server.exchange(pair.refreshToken).status }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.filter { $0 == 200 }.count == 1)
            #expect(statuses.filter { $0 == 400 }.count == 19)
            #expect(server.tally.reuses == 19)
            #expect(server.tally.revokedFamilies == 1)
        }
    }
}
