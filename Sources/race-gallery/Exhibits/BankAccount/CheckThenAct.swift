/// As published: checks, awaits, acts on what may no longer be true.
actor CheckThenAct: Account {
    private(set) var balance = 100
    private let approve: Approval

    init(approve: @escaping Approval) {
        self.approve = approve
    }

    func withdraw(_ amount: Int) async throws {
        guard balance >= amount else { throw Refusal.insufficientFunds }
        note("sees \(balance): enough")
        try await approve()
        balance -= amount
        note("takes \(amount): \(balance) left")
    }
}
