/// Turns away whoever comes while a withdrawal is under way. For what a user can simply try again.
///
/// The flag is raised before the first await, in the same step as the look at it.
actor Bounce: Account {
    private(set) var balance = 100
    private var isBusy = false
    private let approve: Approval

    init(approve: @escaping Approval) {
        self.approve = approve
    }

    func withdraw(_ amount: Int) async throws {
        guard !isBusy else { throw Refusal.busy }
        isBusy = true
        defer { isBusy = false }
        guard balance >= amount else { throw Refusal.insufficientFunds }
        try await approve()
        balance -= amount
    }
}
