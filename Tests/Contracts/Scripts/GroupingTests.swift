import ContractHarness
import TestSupport
import Testing

@testable import AccessTokenContract

@Suite("Of what scripts have found, a report lists", .takesTurnsToWait, .endsHangs)
struct GroupingTests {
    private static let refresh = violation("F1", [.call, .answer(.token), .refresh, .answer(.failure)])
    private static let refusals = [
        violation("I1", [.call, .answer(.permanentFailure), .signIn(.valid), .reject(.current), .call]),
        violation("C10", [.call, .answer(.permanentFailure), .signIn(.valid), .pass(.life), .call]),
    ]

    private static func violation(_ id: ClauseID, _ script: Script) -> ContractViolation {
        let clause = ServiceContract.clauses.first { $0.id == id } ?? ServiceContract.clauses[0]
        return ContractViolation(clause: clause.wording, expected: "", observed: "", replay: script, trace: [])
    }

    private func listed(_ findings: [ContractViolation], behind known: [ContractViolation] = []) -> [ClauseID] {
        var result = ScriptSearch.Result()
        result.findings = findings
        result.group(behind: known)
        #expect(result.findings.count + result.aftershocks.count == findings.count)
        return result.findings.map(\.clause.id)
    }

    @Test func `the shortest script of those that need the same steps`() {
        let longer = Self.violation("I6", [.signIn(.valid), .refresh, .answer(.failure), .refresh])
        #expect(listed([longer, Self.refresh]) == ["F1"])
    }

    @Test func `nothing that a clause's own scenario has shown already`() {
        let longer = Self.violation("I6", [.loader(.failsAtOnce), .signIn(.valid), .refresh, .answer(.failure)])
        #expect(listed([longer], behind: [Self.refresh]) == [])
        #expect(listed([longer]) == ["I6"])
    }

    @Test func `one of two scripts that have two steps in common, and one in place of another`() {
        #expect(listed(Self.refusals) == ["I1"])
        // With one step in common they are about different things.
        let other = Self.violation("C10", [.call, .signOut, .signIn(.valid), .pass(.life), .call])
        #expect(Set(listed([Self.refusals[0], other])) == ["I1", "C10"])
    }

    @Test func `another user's token in any case`() {
        let foreign = Self.violation("O2", [.call, .signIn(.valid), .refresh, .answer(.failure), .call])
        #expect(listed([foreign], behind: [Self.refresh]) == ["O2"])
    }
}
