import AccessTokenGCD
import Dispatch
import SampleShared

/// What is behind the profile screen: it needs two services, and they need one token at the same moment.
@MainActor
final class ProfileModel {
    private(set) var screen = Screen.empty {
        didSet { onChange(screen) }
    }
    var onChange: (Screen) -> Void = { _ in }

    private let userService: UserService
    private let friendsService: FriendsService
    /// Counts the loads: what comes for an earlier one may be another user's.
    private var loads = 0
    private var user: String?
    private var friends: [String]?

    init(userService: UserService, friendsService: FriendsService) {
        self.userService = userService
        self.friendsService = friendsService
    }

    func load() {
        screen = .loading
        (user, friends) = (nil, nil)
        loads += 1
        userService.user { [loads] result in
            DispatchQueue.main.async { if loads == self.loads { self.show(result.map { self.user = $0 }) } }
        }
        friendsService.friends { [loads] result in
            DispatchQueue.main.async { if loads == self.loads { self.show(result.map { self.friends = $0 }) } }
        }
    }

    func signOut() {
        screen = .signedOut
    }

    /// Only a screen that still loads is filled: a failure is shown once, and nothing after a sign-out.
    private func show(_ part: Result<Void, any Error>) {
        guard screen == .loading else { return }
        switch part {
        case .success:
            if let user, let friends { screen = .profile(user: user, friends: friends) }
        case .failure(AccessTokenError.signedOut):
            screen = .signedOut
        case .failure:
            screen = .failed
        }
    }
}
