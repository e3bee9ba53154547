#if os(macOS) || os(Linux)
import InterleavingExplorer
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

/// Fails if the second operation comes first.
private func orderedPair(mayFail: Bool = true) -> Scenario {
    Scenario("two in order") { run in
        for name in ["first", "second"] { run.operation(name) { run.effect(name) {} } }
        run.invariant("the first is first") { !mayFail || run.effects.first == "first" }
    }
}

/// The error of a test of one line, with a schedule in the environment or none.
private func verified(_ scenario: Scenario, replaying schedule: String?) async -> ScenarioFailure? {
    if let schedule { unsafe setenv("EXPLORER_REPLAY", schedule, 1) } else { unsafe unsetenv("EXPLORER_REPLAY") }
    do {
        try await Explorer().verify(scenario)
        return nil
    } catch {
        return error
    }
}

/// Each in a process of its own: the environment is the whole process's.
@Suite("A test of one line", .takesTurnsToExplore, .endsHangs)
struct VerifyTests {
    @Test func `passes if all schedules hold, and throws the failure with its schedule and its trace`() async {
        await #expect(processExitsWith: .success) {
            #expect(await verified(orderedPair(mayFail: false), replaying: nil) == nil)
            let failure = await verified(orderedPair(), replaying: nil)
            #expect(failure?.kind == .brokenInvariant && failure?.schedule == "1")
            #expect(failure?.trace.effects == ["second", "first"])
        }
    }

    @Test func `runs the schedule of the environment alone, and never passes by that`() async {
        await #expect(processExitsWith: .success) {
            let failure = await verified(orderedPair(), replaying: "1")
            #expect(failure?.kind == .brokenInvariant && failure?.trace.effects == ["second", "first"])
            for schedule in ["0", "1"] {
                let held = await verified(orderedPair(mayFail: false), replaying: schedule)
                #expect(held?.kind == .incompleteSearch && held?.schedule.description == schedule)
                #expect(held?.message.contains("holds under the schedule of EXPLORER_REPLAY") == true)
                #expect(held?.trace.effects == (schedule == "1" ? ["second", "first"] : ["first", "second"]))
            }
            #expect(await verified(orderedPair(), replaying: "999")?.kind == .divergedReplay)
            let refused = await verified(orderedPair(), replaying: "no-schedule")
            #expect(refused?.message.contains("“no-schedule”, which is no schedule") == true)
        }
    }
}
#endif
