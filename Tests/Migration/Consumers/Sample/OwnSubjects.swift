import AccessTokenContract

/// Stands for the subjects of a consumer's own.
nonisolated enum OwnSubjects {
    static let services = [
        ContractSubject("the queue service", features: [.callbackLoader, .invalidation]) { fixture in
            .callback(AccessTokenService(loader: fixture.loader))
        }
    ]
    static let all = services
}
