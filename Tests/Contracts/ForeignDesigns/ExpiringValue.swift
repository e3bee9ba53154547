import AccessTokenContract
import Foundation

/// An actor with one state for each stage of a value's life; a failed load is a stage that nothing leaves.
actor ExpiringValue {
    private enum Stage {
        case empty
        case loading(Task<ForeignToken, any Error>)
        case loaded(ForeignToken)
    }

    private let request: @Sendable () async throws -> ForeignToken
    private let now: @Sendable () -> Date
    private let isRepaired: Bool
    private var stage = Stage.empty

    init(
        isRepaired: Bool,
        now: @escaping @Sendable () -> Date,
        request: @escaping @Sendable () async throws -> ForeignToken
    ) {
        self.isRepaired = isRepaired
        self.now = now
        self.request = request
    }

    func value() async throws -> ForeignToken {
        switch stage {
        case .loaded(let token) where token.expiresAt.map({ $0 > now() }) ?? true:
            return token
        case .loading(let task):
            return try await task.value
        case .empty, .loaded:
            let task = Task { try await load() }
            stage = .loading(task)
            return try await task.value
        }
    }

    private func load() async throws -> ForeignToken {
        do {
            let token = try await request()
            stage = .loaded(token)
            return token
        } catch {
            if isRepaired { stage = .empty }
            throw error
        }
    }
}

extension ForeignDesign {
    static let stickyError = ForeignDesign("an actor with sticky errors", broken: ["F2", "X1", "X3"], repairs: "F2") {
        isRepaired in
        ContractSubject("sticky error", features: [.asyncCallers, .cancellation, .expiry]) { fixture in
            let value = ExpiringValue(isRepaired: isRepaired, now: { fixture.clock.now }) {
                try await ForeignToken(fixture.loader.load(replacing: nil))
            }
            return .awaiting { try await value.value().token }
        }
    }
}
