import AccessTokenCore
import Foundation
import Testing

@testable import AccessTokenOAuth

/// What a load waits for, by a table: no server, no socket, no clock.
@Suite("A load that lacks something")
struct NeedTests {
    private static let now = Date(timeIntervalSinceReferenceDate: 0)
    private static let valid = AccessToken(value: "A1", expiration: now + 3600)
    private static let expired = AccessToken(value: "A0", expiration: now - 1)

    private static func record(
        _ access: AccessToken? = nil,
        refresh: String? = "RT",
        subject: String? = nil,
        version: Int = 1
    ) -> CredentialRecord {
        let credential = Credential(accessToken: access, refreshToken: refresh, subject: subject)
        return CredentialRecord(credential: credential, version: version)
    }

    private static func machine(
        hasGrant: Bool,
        sendsByTurn: Bool = true,
        takeOverDelay: TimeInterval = 0
    ) -> RenewalStateMachine {
        RenewalStateMachine(
            replacing: expired,
            .init(
                hasGrant: hasGrant,
                sendsByTurn: sendsByTurn,
                leeway: 30,
                patience: 120,
                quietTime: 30,
                takeOverDelay: takeOverDelay
            )
        )
    }

    private var memory = LoaderMemory(process: 1)

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let record: CredentialRecord?
        let hasGrant: Bool
        let need: Need?

        init(_ name: String, _ record: CredentialRecord?, hasGrant: Bool = false, needs need: Need?) {
            (testDescription, self.record, self.hasGrant, self.need) = (name, record, hasGrant, need)
        }
    }

    static let rows = [
        Row("a refresh token", record(), needs: .turn),
        Row("a valid token", record(valid), needs: nil),
        Row("a valid token of another user", record(valid, subject: "bob"), needs: nil),
        Row("nobody signed in", nil, needs: nil),
        Row("an access token alone", record(expired, refresh: nil), needs: nil),
        Row("nobody signed in, and a grant", nil, hasGrant: true, needs: .grant(SessionMark(nil))),
        Row(
            "an expired access token alone, and a grant",
            record(expired, refresh: nil),
            hasGrant: true,
            needs: .grant(SessionMark(record(expired, refresh: nil).credential))
        ),
        Row("a refresh token, and a grant", record(), hasGrant: true, needs: .turn),
        Row("a valid token, and a grant", record(valid), hasGrant: true, needs: nil),
    ]

    /// A look from outside and one inside come to the same.
    @Test(arguments: rows, [0, 2])
    func `waits for it, and has changed nothing`(row: Row, takeOverDelay: TimeInterval) {
        var test = self
        var machine = Self.machine(hasGrant: row.hasGrant, takeOverDelay: takeOverDelay)
        #expect(machine.need(by: row.record, test.memory, at: Self.now) == row.need)
        let action = machine.entered(row.record, &test.memory, at: Self.now) { _ in false }
        guard let need = row.need else {
            guard case .settled = machine.state else { return fail("\(machine.state)") }
            return
        }
        guard case .waiting(need) = machine.state, case .leave(.keep) = action else { return fail("\(machine.state)") }
        #expect(test.memory.exchanges == 0 && test.memory.sending.isEmpty)
        guard case .wait(for: need) = machine.left(.success(row.record), &test.memory, at: Self.now) else {
            return fail("the shell is not told")
        }
        guard case .looking = machine.state else { return fail("does not look again: \(machine.state)") }
    }

    @Test(arguments: rows, [0, 2])
    func `with what it needs, does what it would have done at once`(row: Row, takeOverDelay: TimeInterval) {
        var (late, direct) = (self, self)
        var machines = (0..<2).map { _ in Self.machine(hasGrant: row.hasGrant, takeOverDelay: takeOverDelay) }
        if row.need != nil {
            _ = machines[0].entered(row.record, &late.memory, at: Self.now) { _ in false }
            _ = machines[0].left(.success(row.record), &late.memory, at: Self.now)
        }
        let action = machines[0].entered(row.record, &late.memory, at: Self.now) { $0 == row.need }
        let atOnce = machines[1].entered(row.record, &direct.memory, at: Self.now)
        #expect("\(action)" == "\(atOnce)")
        #expect("\(machines[0].state)" == "\(machines[1].state)")
        #expect(late.memory.exchanges == direct.memory.exchanges)
    }

    @Test func `code of the app's own has no line, and waits for no turn`() {
        var test = self
        var machine = Self.machine(hasGrant: false, sendsByTurn: false)
        #expect(machine.need(by: Self.record(), test.memory, at: Self.now) == nil)
        guard case .send("RT") = machine.entered(Self.record(), &test.memory, at: Self.now, has: { _ in false }) else {
            return fail("\(machine.state)")
        }
    }

    /// Another process spoils the record between the look from outside and the one inside.
    @Test func `waits after all if the record has changed since the look from outside`() {
        var test = self
        var machine = Self.machine(hasGrant: false)
        #expect(machine.need(by: Self.record(Self.valid), test.memory, at: Self.now) == nil)
        _ = machine.entered(Self.record(Self.expired), &test.memory, at: Self.now, has: Means.none.cover)
        guard case .waiting(.turn) = machine.state else { return fail("\(machine.state)") }
    }

    @Test func `a grant for another session is none, and other dates of a record are no other session`() {
        func action(_ dated: Credential, grantFor session: Credential?) -> RenewalStateMachine.InsideAction {
            var (test, machine) = (self, Self.machine(hasGrant: true))
            let has: (Need) -> Bool = { $0 == .grant(SessionMark(session)) }
            return machine.entered(.init(credential: dated, version: 1), &test.memory, at: Self.now, has: has)
        }
        func spent(_ age: TimeInterval, subject: String? = nil) -> Credential {
            let token = AccessToken(value: "A0", expiration: Self.now - age)
            return Credential(accessToken: token, refreshToken: nil, obtained: Self.now - age, subject: subject)
        }
        guard case .sendGrant = action(spent(60), grantFor: spent(61)) else { return fail("makes grants for ever") }
        for session in [nil, spent(60, subject: "bob"), Self.record().credential] {
            guard case .leave(.keep) = action(spent(60), grantFor: session) else { return fail("sent for another") }
        }
    }

    @Test func `gives up where the store has another user at each look`() {
        var test = self
        var machine = Self.machine(hasGrant: true)
        var waits = 0
        for number in 1...2 * RenewalStateMachine.mostLooks {
            let record = Self.record(refresh: nil, subject: "user \(number)")
            _ = machine.entered(record, &test.memory, at: Self.now) { _ in false }
            switch machine.left(.success(record), &test.memory, at: Self.now) {
            case .wait: waits += 1
            case .end(.failure(CredentialStoreError.busy)): return #expect(waits == RenewalStateMachine.mostLooks - 1)
            case let action: return fail("\(action)")
            }
        }
        fail("waits for ever")
    }

    /// Another load of the process would wait for a reply to what was never sent.
    @Test func `forgets what it has announced when it needs a grant instead`() {
        var test = self
        var machine = Self.machine(hasGrant: true, takeOverDelay: 5)
        guard case .leave(.replace(let noted)) = machine.entered(Self.record(), &test.memory, at: Self.now) else {
            return fail("announces nothing")
        }
        _ = machine.left(.success(.init(credential: noted, version: 2)), &test.memory, at: Self.now)
        #expect(test.memory.sending == [1])
        let another = Self.record(refresh: nil, version: 3)
        _ = machine.entered(another, &test.memory, at: Self.now) { $0 == .turn }
        guard case .waiting(.grant) = machine.state else { return fail("\(machine.state)") }
        #expect(test.memory.sending.isEmpty)
    }

    // MARK: The turn of a load for which no caller waits

    private static func announcing(at age: TimeInterval) -> SentNote {
        SentNote(sender: 1, number: 1, count: 1, hasRival: false, sent: now - age, patience: 120)
    }

    private static let ends: [(String, RenewalStateMachine.State, RenewalStateMachine.TurnEnd)] = [
        ("it waits for the store", .looking, .now),
        ("it lacks a grant", .waiting(.grant(SessionMark(nil))), .now),
        ("what it announces may be sent", .announcing(announcing(at: 1)), .after(30)),
        ("what it has announced may be sent", .announced(announcing(at: 29), version: 1), .after(30)),
        ("it announces too late", .announcing(announcing(at: 30)), .now),
        ("it has announced too late", .announced(announcing(at: 31), version: 1), .now),
        ("the request is under way", .sending(announcing(at: 99), record()), .withReply),
        ("a grant is under way", .sending(nil, nil), .withReply),
        ("the reply is there, and the store writes", .settled(.keep, .again), .now),
        ("it has ended", .ended, .now),
    ]

    /// Fifty loads that can send nothing any more would keep all others from the endpoint.
    @Test(arguments: ends)
    func `gives its turn back when it can send nothing any more`(
        name: String,
        state: RenewalStateMachine.State,
        end: RenewalStateMachine.TurnEnd
    ) {
        var settings = Self.machine(hasGrant: false).settings
        settings.longestAnnouncement = 30
        var machine = RenewalStateMachine(replacing: nil, settings)
        machine.state = state
        #expect(machine.turnEnd(at: Self.now) == end, "\(name)")
    }

    @Test func `a load without a caller waits for nothing`() {
        var test = self
        var machine = Self.machine(hasGrant: false)
        machine.deadlinePassed()
        #expect(machine.need(by: Self.record(), test.memory, at: Self.now) == nil)
        _ = machine.entered(Self.record(), &test.memory, at: Self.now) { _ in false }
        guard case .settled(.keep, .failure(OAuthError.timedOut)) = machine.state else {
            return fail("\(machine.state)")
        }
    }
}
