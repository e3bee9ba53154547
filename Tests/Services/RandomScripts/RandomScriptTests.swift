import Dispatch
import Foundation
import TestSupport
import Testing

/// Calls from both worlds, cancellations, late and repeated answers, failures, rejections, sign-ins, sign-outs,
/// deadlines and jumps of the clock: whatever comes, each stack does what the plain specification says.
@Suite("Random scripts do what the contract says", .eightAtATime)
struct RandomScriptTests {
    private static let environment = ProcessInfo.processInfo.environment
    /// `SCRIPT_OPERATIONS`: how many inputs there are in all.
    private static let operations = environment["SCRIPT_OPERATIONS"].flatMap(Int.init) ?? 60_000
    /// `SCRIPT_SEED`: repeats a run.
    private static let seed = environment["SCRIPT_SEED"].flatMap(UInt64.init) ?? .random(in: 0...999_999)
    private static let length = 40

    /// Scripts that failed once.
    static let given: [[Input]] = [
        // A callback loader's queue did not hand on its load to the task that calls a service of others (R1).
        [.retrieve, .retrieve, .retrieve, .retrieve, .askByLoader(load: 1)],
        // An expired token that is being replaced must not come back with the wall clock.
        [.signIn, .clock(.pastAll), .retrieve, .clock(.back), .retrieve],
    ]

    @Test(arguments: Stack.allCases, ScriptRun.Stage.allCases)
    func `on every stack`(_ stack: Stack, _ stage: ScriptRun.Stage) async {
        // Where a task or a queue comes between, only events tell when the next input may come.
        guard stage != .silent || stack.canBeInline else { return }
        let count = Self.operations / Self.length / 20
        let failure = await onThreadOfItsOwn { () -> String? in
            for script in Self.given.map({ Script($0) }) {
                let run = ScriptRun(stack, stage, patience: 30)
                if let mismatch = script.mismatch(in: run) { return "\(mismatch) in\n\(script)" }
            }
            for index in 0..<count {
                let seed = Self.seed &+ UInt64(index) &* 1_000_003
                if let failure = Self.failure(seed, stack, stage) { return failure }
            }
            return nil
        }
        if let failure {
            Issue.record("\(stack.rawValue), \(stage): \(failure)")
        }
    }

    @Test func `the seed is printed`() {
        print("random scripts: \(Self.operations) inputs, SCRIPT_SEED=\(Self.seed)")
    }

    private static func failure(_ seed: UInt64, _ stack: Stack, _ stage: ScriptRun.Stage) -> String? {
        var generator = SeededGenerator(seed: seed)
        var script = Script([])
        do {
            let run = ScriptRun(stack, stage, patience: 30)
            try Script.play(length, with: &generator, in: run, noting: &script)
            return nil
        } catch {
            let shortest = script.shortened { ScriptRun(stack, stage, patience: 1) }
            let again = shortest.mismatch(in: ScriptRun(stack, stage, patience: 1))
            return """
                \(error)
                SCRIPT_SEED=\(Self.seed); shortened, it is \(again.map { "\($0)" } ?? "no mismatch this time") in
                \(shortest)
                """
        }
    }
}
