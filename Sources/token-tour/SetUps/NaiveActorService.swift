import AccessTokenAsync

/// What many code bases have, and what is wrong with it.
///
/// The actor keeps the memory safe, and that is all it does: it takes other calls while it awaits the
/// load, and until the load is done each of them finds no valid token either and starts one of its own.
actor NaiveActorService: AsyncAccessTokenProviding {
    private let loader: any AsyncAccessTokenLoader
    private var token: AccessToken?

    init(loader: any AsyncAccessTokenLoader) {
        self.loader = loader
    }

    func token() async throws -> AccessToken {
        if let token {
            return token
        }
        let token = try await loader.load(replacing: nil)
        self.token = token
        return token
    }

    func invalidate(_ rejected: AccessToken) {
        if token == rejected {
            token = nil
        }
    }

    func signIn(_ token: AccessToken) {
        self.token = token
    }

    func signOut() async {
        token = nil
        await loader.signOut()
    }
}
