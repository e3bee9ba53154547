import SampleShared

/// An app of some stage while it runs, and what its screen has shown so far.
@MainActor
final class RunningApp {
    let signIn: (Credential) async -> Void
    let signOut: () async -> Void
    /// Goes away while it loads, at the stages at which that can be said.
    let leave: () -> Void

    private let startLoading: () -> Void
    private var loads = 0
    private(set) var screens: [Screen] = []
    private var waits: [CheckedContinuation<Void, Never>] = []

    init(
        load: @escaping () -> Void,
        leave: @escaping () -> Void = {},
        signIn: @escaping (Credential) async -> Void,
        signOut: @escaping () async -> Void
    ) {
        startLoading = load
        self.leave = leave
        self.signIn = signIn
        self.signOut = signOut
    }

    /// An app whose sign-out calls back when the session is forgotten.
    convenience init(
        load: @escaping () -> Void,
        signIn: @escaping (Credential) async -> Void,
        signOutThen: @escaping (@escaping @Sendable () -> Void) -> Void
    ) {
        self.init(load: load, signIn: signIn) {
            await withCheckedContinuation { forgotten in signOutThen { forgotten.resume() } }
        }
    }

    /// Starts to load what the screen shows.
    func load() {
        loads += 1
        startLoading()
    }

    func take(_ screen: Screen) {
        screens.append(screen)
        guard isAtRest else { return }
        for wait in waits { wait.resume() }
        waits = []
    }

    /// What the screen shows when all that was started has ended.
    func screenAtRest() async -> Screen? {
        if !isAtRest { await withCheckedContinuation { waits.append($0) } }
        return screens.last
    }

    var isAtRest: Bool {
        screens.count { $0 == .loading } == loads && screens.last != .loading
    }
}
