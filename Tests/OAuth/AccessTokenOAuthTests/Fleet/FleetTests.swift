import Foundation
import TestSupport
import Testing

/// The protocol by which processes share a row, in every order of its steps, with faults.
///
/// `EVERY_FLEET=long` tries more faults, and more of them.
@Suite("A fleet that shares a row, in every order", .serialized, .endsHangs)
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

    @Test(arguments: Effort.isThorough || isLong ? [1, 2] : [1])
    func `two processes, and whatever goes wrong`(most: Int) async {
        await expectSound(FleetModel(processes: 2, Self.everyFault, most: most))
    }

    @Test(.enabled(if: FleetTests.isLong, "It takes minutes: .ci/deep sequences"))
    func `two processes, and whatever goes wrong three times`() async {
        await expectSound(FleetModel(processes: 2, Self.everyFault, most: 3))
    }

    @Test func `three processes, and whatever goes wrong`() async {
        let faults: Set<FleetModel.Fault> = Self.isLong ? Self.everyFault : [.kill]
        await expectSound(FleetModel(processes: 3, faults, most: 1))
    }

    @Test(.enabled(if: FleetTests.isLong, "It takes minutes: .ci/deep sequences"))
    func `three processes, and whatever goes wrong twice`() async {
        await expectSound(FleetModel(processes: 3, Self.everyFault, most: 2))
    }

    @Test func `a sign-out at any moment is not undone`() async {
        await expectSound(FleetModel(processes: 2, Self.everyFault, most: Self.isLong ? 2 : 1, signsOut: true))
    }

    struct Broken: Sendable, CustomTestStringConvertible {
        let changes: Set<FleetModel.Change>
        let faults: Set<FleetModel.Fault>
        let most: Int
        /// What the shortest way to it ends with.
        let complaint: String
        let processes: Int
        let signsOut: Bool

        init(
            _ changes: Set<FleetModel.Change>,
            by faults: Set<FleetModel.Fault>,
            most: Int = 1,
            _ complaint: String,
            processes: Int = 2,
            signsOut: Bool = false
        ) {
            (self.changes, self.faults, self.most, self.complaint) = (changes, faults, most, complaint)
            (self.processes, self.signsOut) = (processes, signsOut)
        }

        var testDescription: String { changes.map(\.rawValue).sorted().joined(separator: ", ") }
    }

    /// Each rule is there for something: without it, the model breaks.
    ///
    /// The first two are rules that did not hold: a row was given to a process that had left, and the clock of the
    /// database decided.
    private static let broken = [
        Broken([.givesBack, .asksNobody], by: [.cut], "which is not inside"),
        Broken([.trustsClock], by: [.cut, .clockJump], most: 2, "who lives"),
        Broken([.asksNobody], by: [.cut], "who lives"),
        Broken([.waitsForNothing], by: [.silence], "who lives"),
        Broken([.countsGaps], by: [.silence, .stop], most: 3, "who lives"),
        Broken([.leavesOnce], by: [.lateEntry], "which is not inside"),
        Broken([.keepsNote], by: [.lostReply], most: 2, "somebody never ends"),
        Broken([.readsNothing], by: [.stop], "beside a valid token", processes: 3),
        Broken([.writesAnyVersion], by: [.cut], "back after the sign-out", signsOut: true),
    ]

    @Test(.thorough, arguments: broken)
    func `breaks without a rule of the protocol`(_ broken: Broken) async {
        let model = FleetModel(
            processes: broken.processes,
            broken.faults,
            most: broken.most,
            changes: broken.changes,
            signsOut: broken.signsOut
        )
        let found = await explore(model).complaint
        #expect(found?.contains(broken.complaint) == true, "\(found ?? "nothing is broken")")
    }
}
