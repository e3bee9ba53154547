import Foundation
import TestSupport
import Testing

/// The protocol by which processes share a row, in every order of its steps, with faults.
///
/// `EVERY_FLEET=long` tries three processes, and three faults.
@Suite("A fleet that shares a row, in every order", .serialized, .timeLimit(.minutes(30)))
struct FleetTests {
    private static let isLong = ProcessInfo.processInfo.environment["EVERY_FLEET"] == "long"
    private static let everyFault: Set<FleetModel.Fault> = [
        .cut, .silence, .kill, .stop, .lostReply, .lateEntry, .clockJump,
    ]

    private func explore(_ model: FleetModel) async -> FleetExploration {
        await onThreadOfItsOwn { FleetExploration(model) }
    }

    private func expectSound(_ model: FleetModel) async {
        let exploration = await explore(model)
        if let complaint = exploration.complaint { Issue.record("\(complaint)") }
        print("fleet: \(model.processes.count) processes, \(model.faultsLeft) faults: \(exploration.states) states")
    }

    @Test func `two processes, and whatever goes wrong once or twice`() async {
        await expectSound(FleetModel(processes: 2, Self.everyFault, most: Self.isLong ? 3 : 2))
    }

    @Test func `three processes, and whatever goes wrong`() async {
        await expectSound(FleetModel(processes: 3, Self.everyFault, most: Self.isLong ? 2 : 1))
    }

    @Test func `a sign-out at any moment is not undone`() async {
        await expectSound(FleetModel(processes: 2, Self.everyFault, most: Self.isLong ? 2 : 1, signsOut: true))
    }

    struct Broken: Sendable, CustomTestStringConvertible {
        let changes: Set<FleetModel.Change>
        let faults: Int
        /// What the shortest way to it ends with.
        let complaint: String
        var processes = 2
        var signsOut = false
        var testDescription: String { changes.map(\.rawValue).sorted().joined(separator: ", ") }
    }

    /// Each rule is there for something: without it, the model breaks.
    ///
    /// The first three are the rules before: who is inside was known to one process alone, which could forget it; a row
    /// was given to a process that had left; and the clock of the database decided.
    private static let broken = [
        Broken(changes: [.givesBack, .asksNobody, .looksPastHolders], faults: 2, complaint: "who lives"),
        Broken(changes: [.givesBack, .asksNobody], faults: 1, complaint: "which is not inside"),
        Broken(changes: [.trustsClock], faults: 2, complaint: "who lives"),
        Broken(changes: [.asksNobody], faults: 1, complaint: "who lives"),
        Broken(changes: [.waitsForNothing], faults: 1, complaint: "who lives"),
        Broken(changes: [.forgetsHolder], faults: 2, complaint: "who lives"),
        Broken(changes: [.leavesOnce], faults: 1, complaint: "which is not inside"),
        Broken(changes: [.readsNothing], faults: 1, complaint: "beside a valid token", processes: 3),
        Broken(changes: [.writesAnyVersion], faults: 1, complaint: "back after the sign-out", signsOut: true),
    ]

    @Test(arguments: broken)
    func `breaks without a rule of the protocol`(_ broken: Broken) async {
        let model = FleetModel(
            processes: broken.processes,
            Self.everyFault,
            most: broken.faults,
            changes: broken.changes,
            signsOut: broken.signsOut
        )
        let found = await explore(model).complaint
        #expect(found?.contains(broken.complaint) == true, "\(found ?? "nothing is broken")")
    }
}
