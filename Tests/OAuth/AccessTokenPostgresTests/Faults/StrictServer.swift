#if Postgres
import AccessTokenCore
import AccessTokenOAuth
import AccessTokenSynchronization
import Foundation
import TestSupport

/// An authorization server for many users that rotates refresh tokens, and ends a session whose token comes twice.
///
/// It carries a request out when the request arrives, and replies later.
final class StrictServer: Sendable {
    private struct State {
        var current: [String: Int] = [:]
        var sends: [String: Int] = [:]
        var lost: Set<String> = []
    }

    private let state = Locked(State())
    /// Returns when the reply to a refresh token is to go out.
    private let reply: @Sendable (_ refreshToken: String) async -> Void

    init(reply: @escaping @Sendable (_ refreshToken: String) async -> Void) { self.reply = reply }

    /// How often a refresh token came.
    func sends(of refreshToken: String) -> Int { state.withLock { $0.sends[refreshToken] ?? 0 } }

    /// The users whose session has ended.
    var lostSessions: Set<String> { state.withLock { $0.lost } }

    /// The first refresh token of a user.
    func signIn(_ user: String) -> Credential {
        state.withLock { $0.current[user] = 1 }
        return Credential(refreshToken: "\(user)/1")
    }

    /// How a loader renews here.
    func exchange(deadline: TimeInterval) -> TokenExchange {
        TokenExchange(deadline: deadline) { [self] credential in
            let refreshToken = credential.refreshToken ?? ""
            let parts = refreshToken.split(separator: "/")
            let (user, number) = (String(parts.first ?? ""), Int(parts.last ?? "") ?? 0)
            let isGood = state.withLock { state in
                state.sends[refreshToken, default: 0] += 1
                guard state.current[user] == number, !state.lost.contains(user) else {
                    state.lost.insert(user)
                    return false
                }
                state.current[user] = number + 1
                return true
            }
            await reply(refreshToken)
            guard isGood else { throw OAuthError.refused("invalid_grant") }
            let accessToken = AccessToken(value: "A/\(user)/\(number + 1)", expiration: .now.addingTimeInterval(3600))
            return TokenResponse(accessToken: accessToken, refreshToken: "\(user)/\(number + 1)")
        }
    }
}
#endif
