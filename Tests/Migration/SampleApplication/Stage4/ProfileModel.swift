import AccessTokenAsync
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

    init(userService: UserService, friendsService: FriendsService) {
        self.userService = userService
        self.friendsService = friendsService
    }

    func load() async {
        screen = .loading
        loads += 1
        let load = loads
        do {
            async let user = userService.user()
            async let friends = friendsService.friends()
            show(.profile(user: try await user, friends: try await friends), of: load)
        } catch AccessTokenError.signedOut {
            show(.signedOut, of: load)
        } catch _ where Task.isCancelled {
            show(.empty, of: load)
        } catch {
            show(.failed, of: load)
        }
    }

    func signOut() {
        screen = .signedOut
    }

    /// Only a screen that still loads is filled, by its own load: nothing is shown after a sign-out, or to the next user.
    private func show(_ result: Screen, of load: Int) {
        guard screen == .loading, load == loads else { return }
        screen = result
    }
}
