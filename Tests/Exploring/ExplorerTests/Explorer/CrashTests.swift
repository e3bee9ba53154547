#if os(macOS) || os(Linux)
import Dispatch
import InterleavingExplorer
import TestSupport
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

/// What ends a process.
enum Crash: String, CaseIterable, Codable, Sendable {
    case continuationResumedTwice, indexOutOfRange, failedPrecondition, unwrappedNil, overflow, abort, wildPointer,
        endlessRecursion, onDispatchQueue

    /// A trap, a signal that code raises, and a stack that has overflown; `.ci/deep interleavings` tries all.
    static let few = [continuationResumedTwice, abort, endlessRecursion, onDispatchQueue]

    func happen() async {
        switch self {
        case .continuationResumedTwice:
            await withCheckedContinuation { continuation in
                continuation.resume()
                continuation.resume()
            }
        // They print what they come to, since the optimizer removes what nobody uses, and its trap with it.
        case .indexOutOfRange: print(CommandLine.arguments[CommandLine.arguments.count + 1])
        case .failedPrecondition: precondition(CommandLine.arguments.isEmpty, "there are arguments")
        case .unwrappedNil:
            // swift-format-ignore: NeverForceUnwrap
            print(Int(CommandLine.arguments.description)!)
        case .overflow: print(Int.max - CommandLine.arguments.count + 1 + CommandLine.arguments.count)
        case .abort: Self.abortNow()
        case .wildPointer: unsafe UnsafeMutablePointer<Int>(bitPattern: 16)?.pointee = 1
        case .endlessRecursion: print(Self.depth(below: CommandLine.arguments))
        case .onDispatchQueue: break
        }
    }

    private static func abortNow() {
        #if canImport(Darwin)
        Darwin.abort()
        #else
        Glibc.abort()
        #endif
    }

    /// Endless, as far as the optimizer can see.
    private static func depth(below names: [String]) -> Int {
        names.isEmpty ? 0 : 1 + max(depth(below: names.reversed()), names.count)
    }

    /// Crashes if the second operation comes first.
    var scenario: Scenario {
        Scenario("two customers") { run in
            let (cell, queue) = (Cell(), DispatchQueue(label: "crashing"))
            if self == .onDispatchQueue { run.control(queue) }
            run.operation("first") { _ = await cell.add("1") }
            run.operation("second") {
                guard await cell.add("2") == "2" else { return }
                run.note("is the first")
                if self == .onDispatchQueue {
                    queue.async { preconditionFailure("on a queue") }
                } else {
                    await self.happen()
                }
            }
        }
    }
}

@Suite("A crash of the process", .takesTurnsToExplore, .endsHangs)
struct CrashTests {
    @Test(arguments: effort == nil ? Crash.few : Crash.allCases)
    func `leaves the scenario and the schedule, and a replay crashes as well and shows the steps`(_ crash: Crash)
        async throws
    {
        let search = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [crash = crash as Crash] in
            _ = await Explorer().explore(crash.scenario)
        }
        let text = String(decoding: search.standardErrorContent, as: UTF8.self)
        let said = try #require(
            text.firstMatch(of: #/the process is ended by SIG[A-Z]+, .* “two customers” .* schedule (\S+)\./#)
        )
        let schedule = String(said.1)
        #expect(schedule.contains("1"), "\(text)")

        let replay = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [crash = crash as Crash, schedule = schedule as String] in
            guard let schedule = Schedule(parsing: schedule) else { return }
            _ = await Explorer().replay(schedule, of: crash.scenario)
        }
        let steps = String(decoding: replay.standardErrorContent, as: UTF8.self)
        #expect(replay.exitStatus == search.exitStatus)
        #expect(steps.contains("schedule \(schedule)."), "\(steps)")
        #expect(steps.contains(#/steps so far, of which the last one has not ended:\n[ *] +1  /#), "\(steps)")
        #expect(steps.contains("“is the first”"), "\(steps)")
        if crash == .continuationResumedTwice {
            let shown = try #require(steps.firstMatch(of: #/in a run of the scenario “[^$]*“is the first”/#))
            #expect(try textOfPage("FindARace").contains(shown.output), "\(steps)")
        }
    }

    @Test func `outside of an exploration is none of the explorer's business`() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = await Explorer().explore(Scenario("harmless") { $0.operation("first") {} })
            // A release build prints this text, and not that of a precondition.
            fatalError("not explored")
        }
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(text.contains("not explored") && !text.contains("InterleavingExplorer"), "\(text)")
    }
}
#endif
