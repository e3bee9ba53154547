/// Takes the money before the await, and gives it back if the approval is refused. For what seldom fails.
///
/// It gives back the amount; to put back the balance of before would undo what others did meanwhile.
actor Optimistic: Account {
    private(set) var balance = 100
    private let approve: Approval

    init(approve: @escaping Approval) {
        self.approve = approve
    }

    func withdraw(_ amount: Int) async throws {
        guard balance >= amount else { throw Refusal.insufficientFunds }
        balance -= amount
        do {
            try await approve()
        } catch {
            balance += amount
            throw error
        }
    }
}
