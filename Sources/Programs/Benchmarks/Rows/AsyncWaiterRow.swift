import AccessTokenAsync
import AccessTokenCore
import Dispatch

/// The cost of each of many tasks that wait for one load, by their number: flat is linear growth in all.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
enum AsyncWaiterRow {
    static func all(_ isQuick: Bool) -> [Comparison] {
        WaiterCount.all(isQuick).map { count in
            Comparison(
                title: "\(count.number) tasks that wait",
                rounds: count.rounds(isQuick),
                contenders: [
                    Contender(SharedTask.name) { sample(SharedTask.self, count.number) },
                    Contender(Service.name) { sample(Service.self, count.number) },
                ],
                targets: [Target(contender: Service.name, base: SharedTask.name, limit: 2.2)]
            )
        }
    }

    /// From the first task's start to the last one's end, all on one thread; and the heap while all of them wait.
    ///
    /// The load runs already: its start is not part of a waiter's cost.
    private static func sample<Design: WaiterDesign>(_: Design.Type, _ count: Int) -> Sample {
        let loop = LoopExecutor(capacity: count)
        let loader = GatedLoader()
        let design = Design(loader: loader, executor: loop)
        let finished = countdown(count)
        Task(executorPreference: loop) { _ = try await design.token() }
        loop.drain()
        let before = Heap.bytesInUse
        let parking = Stopwatch()
        for _ in 0..<count {
            Task(executorPreference: loop) {
                _ = try await design.token()
                finished.leave()
            }
        }
        loop.drain()
        var nanoseconds = parking.nanoseconds
        let bytes = Heap.bytesInUse.flatMap { after in before.map { (after - $0) / Double(count) } }
        let answering = Stopwatch()
        loader.open()
        loop.drain()
        nanoseconds += answering.nanoseconds
        precondition(finished.wait(timeout: .now()) == .success, "a waiter of \(Design.name) was not answered")
        return Sample(nanoseconds: nanoseconds / Double(count), bytes: bytes)
    }

    /// A way for tasks to wait for one load together.
    private protocol WaiterDesign: Sendable {
        static var name: String { get }
        init(loader: GatedLoader, executor: any TaskExecutor)
        func token() async throws -> AccessToken
    }

    /// All await the value of one task.
    ///
    /// A cancelled waiter goes on waiting.
    private struct SharedTask: WaiterDesign {
        static let name = "Task.value"
        private let load: Task<AccessToken, any Error>

        init(loader: GatedLoader, executor: any TaskExecutor) {
            load = Task(executorPreference: executor) { try await loader.load(replacing: nil) }
        }

        func token() async throws -> AccessToken { try await load.value }
    }

    private struct Service: WaiterDesign {
        static let name = "AsyncAccessTokenService"
        private let service: AsyncAccessTokenService

        init(loader: GatedLoader, executor: any TaskExecutor) {
            let policy = AccessTokenPolicy(loadDeadline: nil)
            service = AsyncAccessTokenService(loader: loader, policy: policy, executor: executor)
        }

        func token() async throws -> AccessToken { try await service.token() }
    }
}

/// How many waiters a comparison has.
struct WaiterCount: Sendable {
    let number: Int

    static func all(_ isQuick: Bool) -> [WaiterCount] {
        (isQuick ? [100, 1_000, 10_000] : [100, 1_000, 10_000, 100_000, 1_000_000]).map(WaiterCount.init)
    }

    /// With it, few waiters take about as long as many.
    func rounds(_ isQuick: Bool) -> Int {
        switch number {
        case ..<1_000: isQuick ? 21 : 201
        case ..<10_000: isQuick ? 11 : 51
        case ..<100_000: isQuick ? 3 : 11
        default: 3
        }
    }
}
