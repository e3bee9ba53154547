import Foundation
import Testing

@testable import AccessTokenOAuth

/// Single decisions; `EveryRenewalTests` tries what follows from them.
@Suite("What a load decides")
struct RenewalStateMachineTests: RenewalDeciding {
    var memory = LoaderMemory(process: 1)

    /// A process that was stopped between the note and the request: others may have sent the token meanwhile.
    @Test(arguments: [(29.0, "send RT0"), (31, "note 2")])
    mutating func `sends what it has announced for so long only`(age: TimeInterval, expected: String) throws {
        var machine = RenewalStateMachine(
            replacing: Self.old,
            .init(
                hasGrant: false,
                leeway: 30,
                patience: 120,
                longestAnnouncement: 30,
                quietTime: 30,
                takeOverDelay: .infinity
            )
        )
        let action = machine.entered(Self.record(), &memory, at: Self.now - age)
        guard case .leave(.replace(let announced)) = action else { return #expect(Bool(false), "\(action)") }
        let record = CredentialRecord(credential: announced, version: 6)
        _ = machine.left(.success(record), present: nil, &memory, at: Self.now - age)
        #expect(look(&machine, record) == expected)
    }

    /// The last column says what the look comes to.
    private static let rows: [(String, SentNote?, String)] = [
        ("nobody has sent it", nil, "note 1"),
        ("another process waits for the reply", note(), "wait"),
        ("no reply can come any more", note(age: 120), "note 2 beside a rival"),
        ("the clock was set back a little", note(age: -1), "wait"),
        ("the clock was set back by far", note(age: -120), "note 2 beside a rival"),
        ("its count is damaged", note(age: 120, count: .max), "note 3 beside a rival"),
        ("the reply was lost", note(.lost), "note 2"),
        ("two replies were lost", note(count: 2, .lost), "fail: OAuthError"),
        ("two were lost a while ago", note(age: 30, count: 2, .lost), "note 1"),
        ("a successor may be under way", note(.refused), "fail: invalid_grant"),
        ("no successor has come", note(age: 120, .refused), "remove"),
        ("this process has sent it", note(by: 1), "wait"),
        ("the end of this process's request was not saved", note(by: 3), "note 2"),
    ]

    @Test(arguments: rows)
    func `whether a refresh token is sent again is a matter of the note beside it`(
        case: String,
        note: SentNote?,
        outcome: String
    ) {
        var test = self
        test.memory.sending = [1]
        let isOver = Self.note(age: .nan).isOlder(than: 120, at: Self.now)
        #expect(isOver, "a date that is no number ends a wait")
        if note?.sender == 3 { test.memory = LoaderMemory(process: 3) }
        var machine = Self.machine(takeOverDelay: .infinity)
        #expect(test.look(&machine, Self.record(note)) == outcome)
    }

    @Test func `a note of the dead is waited for as long as the store says`() {
        var test = self
        var machine = Self.machine()
        // The clock of whoever wrote the note says nothing.
        let record = Self.record(Self.note(age: 100_000))
        var now = Self.now
        for _ in 0..<8 {
            #expect(test.look(&machine, record, at: now) == "wait")
            guard case .pause(let seconds) = machine.left(.success(record), &test.memory, at: now) else {
                return fail("no pause")
            }
            now += seconds
        }
        #expect(test.look(&machine, record, at: now) == "note 2 beside a rival")
    }

    @Test func `a load whose caller has left finds out whether a sender is dead, for the next load`() {
        var test = self
        var first = Self.machine()
        let record = Self.record(Self.note())
        var now = Self.now
        #expect(test.look(&first, record, at: now) == "wait")
        first.deadlinePassed()
        while now < Self.now + 2 {
            now += RenewalStateMachine.pause
            guard case .pause = first.left(.success(record), &test.memory, at: now) else { return fail("no pause") }
            #expect(test.look(&first, record, at: now) == (now < Self.now + 2 ? "wait" : "fail: OAuthError"))
        }
        var second = Self.machine()
        #expect(test.look(&second, record, at: now + 3600) == "note 2 beside a rival")
    }

    @Test func `a load that came to send nothing says for what it has waited`() {
        var test = self
        var machine = Self.machine()
        var error = machine.deadlinePassed()
        #expect(error == .timedOut && !error.mayHaveBeenCarriedOut && error.isTransient)
        #expect(error.description.contains("waited for the store"))
        machine = Self.machine()
        let record = Self.record(Self.note())
        _ = machine.entered(record, &test.memory, at: Self.now)
        error = machine.deadlinePassed()
        #expect(error.description.contains("waited for the reply"))
        #expect(error.description.contains("nothing was sent"))
        machine = Self.machine(takeOverDelay: 0)
        _ = machine.entered(Self.record(), &test.memory, at: Self.now)
        error = machine.deadlinePassed()
        #expect(error.mayHaveBeenCarriedOut)
    }

    @Test func `a store that keeps no notes is served all the same`() {
        var test = self
        var machine = Self.machine()
        _ = machine.entered(Self.record(), &test.memory, at: Self.now)
        let written = CredentialRecord(credential: Self.record().credential, version: 6)
        guard case .enter = machine.left(.success(written), &test.memory, at: Self.now) else {
            return fail("not taken")
        }
        #expect(test.look(&machine, written) == "send RT0")
    }

    @Test func `what was not saved is saved in the place of what it renews, and of nothing newer`() {
        let successor = Credential(accessToken: AccessToken(value: "A1"), refreshToken: "RT1")
        func look(_ record: CredentialRecord?, base: Credential?) -> (String, [Credential]) {
            var test = self
            test.memory.unsaved = .init(credential: successor, base: base)
            var machine = Self.machine()
            return (test.look(&machine, record), machine.takeLeftovers().credentials)
        }
        let base = Self.record().credential
        #expect(look(Self.record(Self.note()), base: base) == ("save RT1", []))
        #expect(look(Self.record(nil, "RT5"), base: base) == ("note 1", []))
        // The same refresh token beside a newer access token is something newer.
        let peer = CredentialRecord(credential: Credential(accessToken: nil, refreshToken: "RT0"), version: 6)
        #expect(look(peer, base: base) == ("note 1", []))
        // The session has ended: nothing of it is left.
        #expect(look(nil, base: base) == ("fail: AccessTokenError", [successor]))
        #expect(look(nil, base: nil) == ("save RT1", []))
        #expect(look(Self.record(), base: nil) == ("note 1", []))
    }

    @Test func `a token that was refused, or whose session has ended here, is removed and not sent`() {
        var test = self
        test.memory.refused = "RT0"
        var (machine, own) = (Self.machine(), Self.machine(hasGrant: true))
        #expect(test.look(&machine, Self.record()) == "remove")
        #expect(test.look(&own, Self.record()) == "remove")
        guard case .enter = own.left(.success(nil), &test.memory, at: Self.now) else { return fail("no grant") }
        #expect(test.look(&own, nil) == "send the grant")
        // The refusal could not be written down, and a rival may still get the successor.
        for note in [Self.note(by: 1, hasRival: true), Self.note(count: 2, hasRival: true, .lost)] {
            machine = Self.machine()
            #expect(test.look(&machine, Self.record(note)) == "note \(note.count) beside a rival")
        }
        test.memory = LoaderMemory(process: 1)
        test.memory.ended = .init(session: SessionMark(Self.record().credential), unread: nil, subject: nil)
        machine = Self.machine()
        #expect(test.look(&machine, Self.record()) == "remove")
        machine = Self.machine()
        #expect(test.look(&machine, Self.record(nil, "NEW")) == "note 1")
    }

    @Test
    func `after a failure the note says what became of the request, and who was refused looks for a peer's token`() {
        func change(_ error: OAuthError, present: CredentialRecord? = nil) -> (
            CredentialChange, RenewalStateMachine.State
        ) {
            var test = self
            var machine = Self.machine()
            guard case .leave(.replace(let noted)) = machine.entered(Self.record(), &test.memory, at: Self.now) else {
                return (.remove, machine.state)
            }
            let written = CredentialRecord(credential: noted, version: 6)
            _ = machine.left(.success(written), &test.memory, at: Self.now)
            _ = machine.entered(written, &test.memory, at: Self.now)
            let change = machine.answered(.failed(error), present: present, &test.memory, at: Self.now + 60)
            #expect(test.memory.sending.isEmpty)
            return (change, machine.state)
        }
        #expect(change(.unavailable(status: 500)).0 == .replace(Self.record().credential))
        guard case .replace(let lost) = change(.timedOut).0 else { return fail("no note") }
        #expect(lost.note?.outcome == .lost)
        // The pause before the next sending begins now, however long the reply took to be lost.
        #expect(lost.note?.sent == Self.now + 60)
        #expect(change(.refused("invalid_grant")).0 == .remove)
        let rotated = CredentialRecord(credential: Credential(refreshToken: "RT9"), version: 7)
        let (kept, state) = change(.refused("invalid_grant"), present: rotated)
        #expect(kept == .keep)
        guard case .settled(_, .again) = state else { return fail("no second look") }
    }

    /// The app decides in one process, and the others go on.
    @Test func `a hold that the store has taken ends where the record says so no more`() {
        var test = self
        var machine = Self.machine(takeOverDelay: 0)
        #expect(test.look(&machine, Self.record()) == "send RT0")
        let unreadable = OAuthError.notUnderstood(status: 200, "{}")
        let change = machine.answered(.failed(unreadable), &test.memory, at: Self.now)
        guard case .replace(let held) = change, held.note?.hold != nil else { return fail("no hold: \(change)") }
        let record = CredentialRecord(credential: held, version: 6)
        _ = machine.left(.success(record), &test.memory, at: Self.now)
        machine = Self.machine(takeOverDelay: 0)
        #expect(test.look(&machine, record) == "fail: OAuthError")
        machine = Self.machine(takeOverDelay: 0)
        #expect(test.look(&machine, Self.record()) == "send RT0")
    }

    @Test func `what the store did not take, since a peer was faster, is decided anew`() {
        var test = self
        var machine = Self.machine(takeOverDelay: 0)
        #expect(test.look(&machine, Self.record()) == "send RT0")
        let issued = Credential(accessToken: Self.old, refreshToken: "RT1")
        _ = machine.answered(.issued(issued, .failure(OAuthError.unusableToken("none"))), &test.memory, at: Self.now)
        // The same access token, and another refresh token: not what was to be saved.
        let peer = Self.record(nil, "RT5")
        guard case .enter = machine.left(.success(peer), &test.memory, at: Self.now) else {
            return fail("taken for its own")
        }
        #expect(test.look(&machine, peer) == "send RT5")
        // Nor is a removal taken for done where a record is.
        _ = machine.answered(.failed(.refused("invalid_grant")), &test.memory, at: Self.now)
        guard case .enter = machine.left(.success(Self.record(nil, "RT6")), &test.memory, at: Self.now) else {
            return fail("taken for removed")
        }
    }

    @Test func `a load without a caller sends nothing, and one that is not let in takes a peer's token`() {
        var test = self
        var machine = Self.machine()
        machine.deadlinePassed()
        #expect(test.look(&machine, Self.record()) == "fail: OAuthError")
        var other = Self.machine()
        let peer = CredentialRecord(
            credential: Credential(accessToken: .init(value: "P"), refreshToken: "R"),
            version: 9
        )
        let busy = Result<CredentialRecord?, any Error>.failure(CredentialStoreError.busy)
        guard case .end(.success(let token)) = other.left(busy, present: peer, &test.memory, at: Self.now) else {
            return fail("not adopted")
        }
        #expect(token.value == "P")
    }

    @Test func `a load that has sent, and finds another record each time, does not say that nothing was sent`() {
        var test = self
        var machine = Self.machine(takeOverDelay: 0)
        for number in 1...RenewalStateMachine.mostLooks {
            #expect(test.look(&machine, Self.record(nil, "RT\(number)")) == "send RT\(number)")
            _ = machine.answered(.failed(.refused("invalid_grant")), &test.memory, at: Self.now)
            let action = machine.left(.success(Self.record(nil, "RT\(number + 1)")), &test.memory, at: Self.now)
            if case .enter = action { continue }
            guard case .end(.failure(CredentialStoreError.superseded)) = action else { return fail("\(action)") }
            return #expect(number == RenewalStateMachine.mostLooks)
        }
        fail("looks for ever")
    }
}
