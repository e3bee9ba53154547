import AccessTokenContract
import Foundation
import TestSupport
import Testing

@testable import AccessTokenCore

/// Every sequence of a few inputs, looks among them, beside a store that other processes change.
///
/// Loads adopt what is stored when they answer, as a careful loader does. So whatever came before, a look says who is
/// signed in.
///
/// `EVERY_SEQUENCE=long` looks seven inputs behind a request instead of six.
@Suite("Every sequence of looks", .takesTurns)
struct EveryLookTests {
    private static let isLong = ProcessInfo.processInfo.environment["EVERY_SEQUENCE"] == "long"

    enum Input: CaseIterable {
        case call, request, loadAnswers, loadFails, rejection, look
        case annSignsInElsewhere, bobSignsInElsewhere, signOutElsewhere, renewalElsewhere
    }

    private struct World {
        var story = Story()
        var stored: (user: String, token: AccessToken)?
        var issued = 0
        var answered = 0
        /// Whom the last look found.
        var found: String?
        /// Whether the token came while no look said whose it may be: then the next look cannot tell.
        var isUntold = false
        /// A request that was sent, and what it compares when its token is rejected.
        var request: (user: String, userChanges: Int)?

        var userOfToken: String? { story.published.map { String($0.value.prefix(3)) } }
    }

    private var path: [Input] = []
    private(set) var checked = 0

    /// Returns `false` for an input that would do nothing.
    private func step(_ world: inout World, _ input: Input) throws -> Bool {
        switch input {
        case .call:
            guard world.story.published == nil, world.answered == world.story.loads.count else { return false }
            world.story.calls("a view")
        case .request:
            guard world.request == nil, let user = world.userOfToken, user == world.found else { return false }
            world.request = (user, world.story.userChanges)
        case .loadAnswers, .loadFails:
            guard world.answered < world.story.loads.count else { return false }
            world.answered += 1
            try answer(world.answered, input, &world)
        case .rejection:
            guard let token = world.story.published else { return false }
            world.story.server(rejects: token)
        case .look:
            try look(&world)
        case .annSignsInElsewhere, .bobSignsInElsewhere:
            signIn(input == .annSignsInElsewhere ? "Ann" : "Bob", &world)
        case .signOutElsewhere:
            guard world.stored != nil else { return false }
            world.stored = nil
        case .renewalElsewhere:
            guard let user = world.stored?.user else { return false }
            signIn(user, &world)
        }
        return true
    }

    private func signIn(_ user: String, _ world: inout World) {
        world.issued += 1
        world.stored = (user, world.story.token("\(user)\(world.issued)"))
    }

    private func answer(_ load: Int, _ input: Input, _ world: inout World) throws {
        guard input == .loadAnswers else { return world.story.load(load, failsWith: LoadFailure(load: load)) }
        guard let stored = world.stored else { return world.story.load(load, failsWith: AccessTokenError.signedOut) }
        // What the server has rejected is exchanged.
        if world.story.loads[load - 1].replacing == stored.token { signIn(stored.user, &world) }
        guard let token = world.stored?.token else { return }
        world.story.load(load, brings: token)
        world.isUntold = world.found == nil
    }

    private func look(_ world: inout World) throws {
        let stored = world.stored.map { StoredSession(token: $0.token, subject: $0.user) }
        world.story.app(finds: stored)
        let changes = world.story.changes
        world.story.app(finds: stored)
        guard world.story.changes == changes else { throw Violation("a second look changes something") }
        let status = world.story.status
        guard let user = world.stored?.user else {
            guard world.story.published == nil, status == .signedOut else { throw Violation("\(status) of nobody") }
            world.found = nil
            return
        }
        guard [.signedIn, .expired].contains(status) else { throw Violation("\(status), although \(user) was found") }
        if world.userOfToken ?? user == user { world.isUntold = false }
        guard world.userOfToken ?? user == user || world.isUntold else {
            throw Violation("a token of another user than \(user)")
        }
        guard world.story.subject == user else { throw Violation("not the subject of the look") }
        if let request = world.request, request.user != user, request.userChanges == world.story.userChanges {
            throw Violation("\(request.user)'s request would be sent again for \(user)")
        }
        world.found = user
    }

    private mutating func extend(_ world: World, by length: Int) throws {
        guard length > 0 else { return }
        for input in Input.allCases {
            var next = world
            path.append(input)
            defer { path.removeLast() }
            do {
                guard try step(&next, input) else { continue }
            } catch {
                throw Violation("\(error)\nafter \(path.map { "\($0)" }.joined(separator: ", "))")
            }
            checked += 1
            try extend(next, by: length - 1)
        }
    }

    private func check(after opening: [Input] = [], length: Int) async throws -> Int {
        try await onThreadOfItsOwn {
            Result {
                var (sequences, world) = (EveryLookTests(), World())
                for input in opening { _ = try sequences.step(&world, input) }
                try sequences.extend(world, by: length)
                return sequences.checked
            }
        }.get()
    }

    @Test func `finds who is signed in, whatever came before`() async throws {
        let checked = try await check(length: 6)
        #expect(checked == 29_271)
    }

    /// Ann is signed in, a look has found her, and a request of hers is under way.
    @Test func `finds another user, for whom no request of the one before is sent again`() async throws {
        let opening: [Input] = [.annSignsInElsewhere, .call, .loadAnswers, .look, .request]
        let checked = try await check(after: opening, length: Self.isLong ? 7 : 6)
        #expect(checked == (Self.isLong ? 250_386 : 43_127))
    }
}
