import AccessTokenAsync
import AccessTokenGCD

/// A call that is repeated so many times and nothing else, for a tool that counts instructions.
enum Workload: String, CaseIterable, Sendable {
    case snapshot
    case hit
    case existential
    case awaitedSnapshot = "awaited-snapshot"
    case currentToken = "current-token"
    case queueToken = "queue-token"
    case taskValue = "task-value"
    case continuation
    case waiter
    case cancelledWaiter = "cancelled-waiter"
    case sundell
    case callback

    func run(count: Int) async throws {
        switch self {
        case .snapshot: HitRows.repeatSnapshot(count)
        case .hit: try await HitRows.repeatToken(count)
        case .existential: try await HitRows.repeatExistential(count)
        case .awaitedSnapshot: try await HitRows.repeatAwaitedSnapshot(count)
        case .currentToken: HitRows.repeatCurrentToken(count)
        case .queueToken: HitRows.repeatQueueToken(count)
        case .taskValue: _ = AsyncWaiters.onOneThread(SharedTaskDesign.self, count: count)
        case .continuation: _ = AsyncWaiters.onOneThread(ContinuationDesign.self, count: count)
        case .waiter: _ = AsyncWaiters.onOneThread(ServiceDesign.self, count: count)
        case .cancelledWaiter: _ = AsyncWaiters.cancelled(ServiceDesign.self, count: count)
        case .sundell: _ = CallbackWaiters.sample(SundellDesign.self, count: count)
        case .callback: _ = CallbackWaiters.sample(QueueServiceDesign.self, count: count)
        }
    }
}
