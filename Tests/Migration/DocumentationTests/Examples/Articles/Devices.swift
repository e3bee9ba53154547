import AccessTokenOAuth
import Foundation

/// The watch's loader: the phone has the refresh token, and the watch asks it.
nonisolated struct PhoneLoader: AsyncAccessTokenLoader {
    let phone: YourPhone
    /// The session of the phone for which the watch has made its service.
    let session: UUID

    func load(replacing old: AccessToken?) async throws -> AccessToken {
        try await phone.token(of: session, replacing: old)
    }
}

/// Stands for the connection to the phone, and for the phone, whose answers come from its one service.
nonisolated struct YourPhone: Sendable {
    let tokens: AsyncAccessTokenService
    /// Made anew before each login; `nil` from before each sign-out on.
    let session: @Sendable () -> UUID?

    func token(of session: UUID, replacing old: AccessToken?) async throws -> AccessToken {
        guard session == self.session() else { throw AccessTokenError.signedOut }
        if let old { await tokens.invalidate(old) }
        let token = try await tokens.token()
        guard session == self.session() else { throw AccessTokenError.signedOut }  // It may be the next user's.
        return token
    }
}

/// A connection that is authorized once, and needs the next token while nobody calls.
nonisolated struct SocketSession: Sendable {
    let tokens: AsyncAccessTokenService
    let socket: YourSocket
    var now: @Sendable () -> Date = { .now }
    var pause: @Sendable (TimeInterval) async throws -> Void = { try await Task.sleep(for: .seconds($0)) }

    /// Tells the socket each next token before the present one expires, until the task is cancelled.
    func keepAuthorized() async throws {
        var told: AccessToken?
        while true {
            let token = try await tokens.token()
            if token != told { try await socket.authorize(token.value) }
            told = token
            guard let expiration = token.expiration else { return }
            // From 30 s before its expiration on, by the service's policy, a call loads the successor.
            try await pause(max(1, expiration.timeIntervalSince(now()) - 30))
        }
    }
}

/// Stands for your WebSocket.
nonisolated struct YourSocket: Sendable {
    let authorize: @Sendable (_ bearer: String) async throws -> Void
}
