import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("Replies of services, each taken as its server means it", .takesTurns, .endsHangs)
struct ServiceReplyTests {
    private func check(_ reply: ReplyFixture, _ outcome: ReplyFixture.Outcome) async throws {
        let found = try await reply.outcome()
        #expect(found == outcome, "\(reply.testDescription)")
    }

    @Test(arguments: ReplyFixture.tokens)
    func `a success hands out its token`(reply: ReplyFixture) async throws { try await check(reply, .token) }

    @Test(arguments: ReplyFixture.ended)
    func `a dead refresh token asks for a login`(reply: ReplyFixture) async throws { try await check(reply, .ended) }

    @Test(arguments: ReplyFixture.user)
    func `a server that wants the user keeps the credential`(reply: ReplyFixture) async throws {
        try await check(reply, .user)
    }

    @Test(arguments: ReplyFixture.later)
    func `what may pass signs nobody out, and holds nothing`(reply: ReplyFixture) async throws {
        try await check(reply, .later)
    }

    @Test(arguments: ReplyFixture.mistakes)
    func `a mistake of the app signs nobody out`(reply: ReplyFixture) async throws { try await check(reply, .mistake) }

    @Test(arguments: ReplyFixture.held)
    func `a refresh token that may be spent is not sent again`(reply: ReplyFixture) async throws {
        try await check(reply, .held)
    }

    @Test(arguments: ReplyFixture.more)
    func `replies of servers that nobody had in mind are taken so as well`(
        reply: ReplyFixture,
        outcome: ReplyFixture.Outcome
    ) async throws {
        try await check(reply, outcome)
    }
}
