import AccessTokenAsync
import AccessTokenCore
import AccessTokenSynchronization
import Dispatch

/// The cost of each of many tasks that wait for one load, by their number: flat is linear growth in all.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
enum AsyncWaiterRow {
    static func all(_ isQuick: Bool) -> [Comparison] {
        waiterComparisons(isQuick, of: "tasks") { count in
            [
                Contender(SharedTask.name) { run(SharedTask.self, count, timeOfWaiters) },
                Contender(Service.name, limit: 2) { run(Service.self, count, timeOfWaiters) },
            ]
        }
    }

    static func heapOfSharedTask(_ count: Int) -> Double? { run(SharedTask.self, count, heapOfWaiters) }
    static func heapOfService(_ count: Int) -> Double? { run(Service.self, count, heapOfWaiters) }

    /// From the first task's start to the last one's end, all on one thread.
    ///
    /// The load runs already: its start is not part of a waiter's cost.
    private static func run<Design: WaiterDesign, Figure>(
        _: Design.Type,
        _ count: Int,
        _ measure: WaiterMeasure<Figure>
    ) -> Figure {
        let loop = LoopExecutor(capacity: count)
        let loader = GatedLoader()
        let design = Design(loader: loader, executor: loop)
        let finished = countdown(count)
        Task(executorPreference: loop) { _ = try await design.token() }
        loop.drain()
        let wait = {
            for _ in 0..<count {
                Task(executorPreference: loop) {
                    _ = try await design.token()
                    finished.leave()
                }
            }
            loop.drain()
        }
        let figure = measure(count, wait) {
            loader.open()
            loop.drain()
        }
        precondition(finished.wait(timeout: .now()) == .success, "a waiter of \(Design.name) was not answered")
        return figure
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
            // All tasks of the service run on the one thread, the end of the load among them.
            service = AsyncAccessTokenService(
                loader: loader,
                policy: policy,
                clock: SystemClock(),
                startTask: TaskStarter(executor: executor),
                events: nil
            )
        }

        func token() async throws -> AccessToken { try await service.token() }
    }
}
