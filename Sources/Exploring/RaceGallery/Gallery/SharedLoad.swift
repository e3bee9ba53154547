import InterleavingExplorer

/// What a version awaits, such as a token, a picture or data.
///
/// Here it is the number of the load.
typealias Load = @Sendable () async throws -> Int

/// The scenario of all services and caches: two callers share a load, and ask once more.
@available(Executors, *)
enum SharedLoad {
    static let title = "Two callers share a load, and ask once more"
    static let oneAtATime = "one load at a time"
    static let served = "everybody is served in the end"
    static let invariants = [oneAtATime, served]

    /// - Parameters:
    ///   - firstLoadFails: the callers that share the first load are told its error, and only these ask once more.
    ///     Otherwise every load succeeds, and each caller asks twice.
    ///   - make: makes the version around its load.
    ///   - ask: what a caller does.
    static func scenario<Subject: Sendable>(
        firstLoadFails: Bool = true,
        _ make: @escaping @Sendable (@escaping Load) -> Subject,
        ask: @escaping @Sendable (Subject) async throws -> Int
    ) -> Scenario {
        Scenario(title) { run in
            let source = LoadCounter { number in
                let fails = firstLoadFails && number == 1
                await run.pause(fails ? "failure" : "answer \(number)")
                if fails { throw LoadFailed() }
            }
            let subject = make { try await source.load() }
            let callers = ["first", "second"].map { name in
                run.operation(name, mayThrow: true) {
                    if let answer = try? await ask(subject), firstLoadFails { return answer }
                    note("asks once more")
                    return try await ask(subject)
                }
            }
            run.invariant(oneAtATime) { source.counts.most == 1 }
            run.invariant(served) { callers.allSatisfy { $0.value != nil } }
        }
    }

    /// So many callers ask once each, and every load succeeds.
    static func asksOnce<Subject: Sendable>(
        callers count: Int,
        _ make: @escaping @Sendable (@escaping Load) -> Subject,
        ask: @escaping @Sendable (Subject) async throws -> Int
    ) -> Scenario {
        Scenario("\(count) callers ask once each, and every load succeeds") { run in
            let source = LoadCounter { await run.pause("answer \($0)") }
            let subject = make { try await source.load() }
            let callers = (1...count).map { number in
                run.operation("\(number)") { try await ask(subject) }
            }
            run.invariant(oneAtATime) { source.counts.most == 1 }
            run.invariant(served) { callers.allSatisfy { $0.value != nil } }
        }
    }
}

struct LoadFailed: Error {}

/// Counts the loads of a version from outside: the version needs no line for it.
@available(Executors, *)
final class LoadCounter: Sendable {
    struct Counts: Sendable {
        var started = 0
        var running = 0
        /// How many ran at the same moment.
        var most = 0
    }

    private let current = Protected(Counts())
    private let answer: @Sendable (_ number: Int) async throws -> Void

    init(answer: @escaping @Sendable (_ number: Int) async throws -> Void) {
        self.answer = answer
    }

    var counts: Counts { current.withLock { $0 } }

    func load() async throws -> Int {
        let number = current.withLock { counts in
            counts.started += 1
            counts.running += 1
            counts.most = max(counts.most, counts.running)
            return counts.started
        }
        note("starts load \(number)")
        defer { current.withLock { $0.running -= 1 } }
        try await answer(number)
        return number
    }
}
