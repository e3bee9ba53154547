import AccessTokenContract

/// An actor whose callers take turns: each looks for a token first, and loads one if there is none. After a failure the next
/// one loads again, and so do all who wait; repaired, they take the error for theirs.
actor TakingTurns {
    private let loader: ControlledLoader
    private let isRepaired: Bool
    private var token: AccessToken?
    private var isBusy = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var failures: [any Error] = []

    init(isRepaired: Bool, loader: ControlledLoader) {
        self.loader = loader
        self.isRepaired = isRepaired
    }

    func current() async throws -> AccessToken {
        let earlier = failures.count
        while isBusy { await withCheckedContinuation { waiting.append($0) } }
        if let token { return token }
        if isRepaired, failures.count > earlier { throw failures[earlier] }
        isBusy = true
        defer {
            isBusy = false
            for waiter in waiting { waiter.resume() }
            waiting = []
        }
        do {
            let new = try await loader.load(replacing: nil)
            token = new
            return new
        } catch {
            failures.append(error)
            throw error
        }
    }
}

extension ForeignDesign {
    static let takingTurns = ForeignDesign("callers that take turns", broken: ["F5"], repairs: "F5") { isRepaired in
        ContractSubject("taking turns") { fixture in
            let callers = TakingTurns(isRepaired: isRepaired, loader: fixture.loader)
            return .awaiting { try await callers.current() }
        }
    }
}
