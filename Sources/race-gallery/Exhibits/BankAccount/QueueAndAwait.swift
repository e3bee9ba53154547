/// Lets each withdrawal wait for the one before it. For work that must not be turned away.
///
/// It waits for the end of the other, not for its success: that error belongs to somebody else.
actor QueueAndAwait: Account {
    private(set) var balance = 100
    private var last: Task<Void, any Error>?
    private let approve: Approval

    init(approve: @escaping Approval) {
        self.approve = approve
    }

    func withdraw(_ amount: Int) async throws {
        let previous = last
        let turn = Task {
            _ = await previous?.result
            try await pay(amount)
        }
        last = turn
        try await turn.value
    }

    private func pay(_ amount: Int) async throws {
        guard balance >= amount else { throw Refusal.insufficientFunds }
        try await approve()
        balance -= amount
    }
}
