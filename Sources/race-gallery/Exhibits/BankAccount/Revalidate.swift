/// Looks again after the await. For when it is enough to fail late.
///
/// Between the second look and the payment there is no await.
actor Revalidate: Account {
    private(set) var balance = 100
    private let approve: Approval

    init(approve: @escaping Approval) {
        self.approve = approve
    }

    func withdraw(_ amount: Int) async throws {
        guard balance >= amount else { throw Refusal.insufficientFunds }
        try await approve()
        guard balance >= amount else { throw Refusal.insufficientFunds }
        balance -= amount
    }
}
