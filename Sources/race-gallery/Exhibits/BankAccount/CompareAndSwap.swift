/// Counts the changes, and starts again if there was one meanwhile. For results that depend on all of the state.
actor CompareAndSwap: Account {
    private(set) var balance = 100 {
        didSet { version += 1 }
    }
    private var version = 0
    private let approve: Approval

    init(approve: @escaping Approval) {
        self.approve = approve
    }

    func withdraw(_ amount: Int) async throws {
        while true {
            let seen = version
            guard balance >= amount else { throw Refusal.insufficientFunds }
            try await approve()
            if version == seen {
                balance -= amount
                return
            }
        }
    }
}
