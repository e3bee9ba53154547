import AccessTokenCore
import AccessTokenSynchronization

/// A load under way: its machine, and the memory that it shares with the other loads of its store.
final class RunningLoad: Sendable {
    private let machine: Locked<RenewalStateMachine>
    private let memory: SharedLoaderMemory

    init(_ machine: RenewalStateMachine, _ memory: SharedLoaderMemory) {
        self.machine = Locked(machine)
        self.memory = memory
    }

    func decide<Action: Sendable>(
        _ input: (inout RenewalStateMachine, inout LoaderMemory) -> Action
    ) -> Action {
        memory.withLock { memory in machine.withLock { input(&$0, &memory) } }
    }
}
