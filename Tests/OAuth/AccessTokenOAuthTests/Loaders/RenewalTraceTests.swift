import AccessTokenCore
import Foundation
import Testing

@testable import AccessTokenOAuth

/// Single decisions, as in `RenewalStateMachineTests`: those that a later load, or a load without a caller, would feel.
@Suite("What a load leaves to the next one")
struct RenewalTraceTests: RenewalDeciding {
    private static let spent = Hold(reason: .unread(what: "no JSON"))

    var memory = LoaderMemory(process: 1)

    // MARK: A note of its own, and those of others

    /// Looks, and returns the note that the load has its store write.
    private mutating func announce(_ machine: inout RenewalStateMachine) throws -> Credential {
        let action = machine.entered(Self.record(), &memory, at: Self.now)
        guard case .leave(.replace(let noted)) = action else { throw Unexpected(text: "\(action)") }
        return noted
    }

    private struct Unexpected: Error { let text: String }

    @Test func `takes no note of others for its own, inside of the store or outside`() throws {
        for isInside in [true, false] {
            var (test, machine) = (self, Self.machine())
            _ = try test.announce(&machine)
            if !isInside {
                guard case .enter = machine.left(.success(Self.record(Self.note())), &test.memory, at: Self.now) else {
                    return fail("does not look again")
                }
                #expect(test.memory.sending.isEmpty)
            }
            #expect(test.look(&machine, Self.record(Self.note())) == "wait")
        }
    }

    /// Otherwise every load of the process would wait for a reply to what was never sent.
    @Test func `forgets what it has announced when the store does not let it in again`() throws {
        var (test, machine) = (self, Self.machine())
        let noted = CredentialRecord(credential: try test.announce(&machine), version: 6)
        _ = machine.left(.success(noted), &test.memory, at: Self.now)
        #expect(test.memory.sending == [1])
        _ = machine.left(.failure(CredentialStoreError.busy), &test.memory, at: Self.now)
        #expect(test.memory.sending.isEmpty)
        var next = Self.machine()
        #expect(test.look(&next, noted) == "note 2")
    }

    /// A request of the former session may still be under way: its end must not be taken for that of a new one.
    @Test func `numbers go on when a session ends`() throws {
        var (test, machine) = (self, Self.machine())
        _ = try test.announce(&machine)
        test.memory.forget()
        #expect(test.memory.sending == [1])
        var next = Self.machine()
        #expect(try test.announce(&next).note?.number == 2)
    }

    @Test func `a request of a loader that is no more is not waited for`() {
        var (test, machine) = (self, Self.machine())
        var note = Self.note()
        note.isOver = true
        #expect(test.look(&machine, Self.record(note)) == "note 2")
    }

    @Test func `what was not carried out beside a rival's request leaves a note, since the rival's may have been`() {
        for hasRival in [true, false] {
            var (test, machine) = (self, Self.machine())
            machine.state = .sending(Self.note(hasRival: hasRival), Self.record())
            let error = OAuthError.unavailable(status: 503, retryAfter: 1)
            let change = machine.answered(.failed(error, .notCarriedOut), &test.memory, at: Self.now)
            guard case .replace(let credential) = change else {
                return fail("\(change)")
            }
            #expect(credential.note?.outcome == (hasRival ? .lost : nil))
        }
    }

    // MARK: A load without a caller

    @Test func `a load without a caller makes no grant, and does not wait for a sender that lives`() {
        var (test, machine) = (self, Self.machine(hasGrant: true))
        machine.deadlinePassed()
        #expect(test.look(&machine, nil) == "fail: OAuthError")
        machine = Self.machine()
        machine.deadlinePassed()
        var note = Self.note()
        note.isSenderPresent = true
        #expect(test.look(&machine, Self.record(note)) == "fail: OAuthError")
    }

    // MARK: What is owed

    @Test func `what the store has taken is not owed any more`() {
        var (test, machine) = (self, Self.machine(takeOverDelay: 0))
        #expect(test.look(&machine, Self.record()) == "send RT0")
        let token = AccessToken(value: "A1")
        let issued = Credential(accessToken: token, refreshToken: "RT1")
        _ = machine.answered(.issued(issued, .success(token)), &test.memory, at: Self.now)
        #expect(test.memory.isOwing)
        _ = machine.left(.success(.init(credential: issued, version: 6)), &test.memory, at: Self.now)
        #expect(!test.memory.isOwing)
    }

    @Test func `nothing is owed once the record has another token, or the hold is over`() {
        var (test, machine) = (self, Self.machine())
        (test.memory.refused, test.memory.isUnwritten) = ("RT9", true)
        _ = test.look(&machine, Self.record())
        #expect(!test.memory.isUnwritten)
        // This loader takes the type for which another one has held the token.
        let hold = DatedHold(hold: Hold(reason: .unusable(what: "its type", type: "mac")), since: Self.now)
        test.memory.held = HeldToken(refreshToken: "RT0", holds: [hold])
        (test.memory.refused, test.memory.isUnwritten) = (nil, true)
        var settings = Self.machine().settings
        settings.takesType = { $0 == "mac" }
        machine = RenewalStateMachine(replacing: Self.old, settings)
        machine.deadlinePassed()
        #expect(test.look(&machine, Self.record()) == "fail: OAuthError")
        #expect(!test.memory.isUnwritten)
    }

    @Test func `a failure before a success is not told after the next refusal`() {
        var test = self
        func exchange(_ answer: RenewalStateMachine.Answer) -> [any Error] {
            var machine = Self.machine(takeOverDelay: 0)
            _ = machine.entered(Self.record(), &test.memory, at: Self.now)
            _ = machine.answered(answer, &test.memory, at: Self.now)
            return machine.takeLeftovers().errors
        }
        let refusal = RenewalStateMachine.Answer.failed(.refused("invalid_grant"))
        _ = exchange(.failed(.timedOut))
        #expect(exchange(refusal).count == 1)
        test.memory = LoaderMemory(process: 1)
        _ = exchange(.failed(.timedOut))
        _ = exchange(.issued(Self.record().credential, .success(Self.old)))
        test.memory.unsaved = nil
        #expect(exchange(refusal).isEmpty)
    }

    // MARK: Refusals and holds

    @Test func `a loader with a grant replaces a session that is refused or may be spent`() {
        for outcome in [SentNote.Outcome.refused, .held(Self.spent)] {
            var (test, machine) = (self, Self.machine())
            #expect(test.look(&machine, Self.record(Self.note(outcome))).hasPrefix("fail"))
            machine = Self.machine(hasGrant: true)
            #expect(test.look(&machine, Self.record(Self.note(outcome))) == "remove")
            guard case .enter = machine.left(.success(nil), &test.memory, at: Self.now) else {
                return fail("does not go on")
            }
            #expect(test.look(&machine, nil) == "send the grant")
        }
    }

    /// The app has decided in another process, whose request then had another reply.
    @Test func `a hold in the record says more than an earlier one in the memory`() {
        var (test, machine) = (self, Self.machine())
        let known = DatedHold(hold: Self.spent, since: Self.now - 600)
        test.memory.held = HeldToken(refreshToken: "RT0", holds: [known])
        let later = Hold(reason: .interaction(code: "interaction_required"))
        #expect(test.look(&machine, Self.record(Self.note(age: 200, .held(later)))) == "note 1")
        machine = Self.machine()
        #expect(test.look(&machine, Self.record()) == "fail: OAuthError")
    }
}
