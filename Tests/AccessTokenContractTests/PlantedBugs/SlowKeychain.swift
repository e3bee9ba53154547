import AccessTokenContract

/// A keychain that is done with the first caller's token at once, and with the others' when a second load is running.
actor SlowKeychain {
    private let loader: ControlledLoader
    private var first: AccessToken?

    init(loader: ControlledLoader) { self.loader = loader }

    func save(_ token: AccessToken) async {
        let isFirstOfAll = first == nil
        first = first ?? token
        if token == first, !isFirstOfAll { _ = await loader.started(2, patience: .seconds(30)) }
    }
}
