import SampleShared

/// What surrounds the app, whatever its stage: servers, and the keychain with the credential of a user.
struct World: Sendable {
    let authorization = AuthorizationServer()
    let keychain = Keychain()

    init() {
        keychain.credential = authorization.signIn(user: 1)
    }

    var api: API { API(authorization: authorization) }

    /// Lets all that is on its way arrive; too short a rest can miss a bug, and never invents one.
    func settle() async {
        for _ in 0..<50 {
            // Each priority has a queue of its own, which is as long as other tests make it.
            for priority in [TaskPriority.high, .medium, .low] { await Task.detached(priority: priority) {}.value }
            await Task.yield()
        }
    }
}
