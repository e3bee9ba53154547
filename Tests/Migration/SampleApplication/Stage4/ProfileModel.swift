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

    init(userService: UserService, friendsService: FriendsService) {
        self.userService = userService
        self.friendsService = friendsService
    }

    func load() async {
        screen = .loading
        do {
            async let user = userService.user()
            async let friends = friendsService.friends()
            show(.profile(user: try await user, friends: try await friends))
        } catch AccessTokenError.signedOut {
            show(.signedOut)
        } catch is CancellationError {
            show(.empty)
        } catch {
            show(.failed)
        }
    }

    func signOut() {
        screen = .signedOut
    }

    /// Only a screen that still loads is filled: nothing is shown after a sign-out.
    private func show(_ result: Screen) {
        guard screen == .loading else { return }
        screen = result
    }
}
