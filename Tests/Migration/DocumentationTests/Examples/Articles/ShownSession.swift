import AccessTokenOAuth
import Foundation

#if canImport(SwiftUI)
import SwiftUI
#endif

extension AppSession {
    /// What the app's first view shows: make it once, where the app begins.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
    func observed() -> ObservedSession {
        let loader = loader
        return ObservedSession(of: tokens, stored: { try await loader.storedSession() })
    }
}

#if canImport(SwiftUI)
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
struct RootView<Content: View, Login: View>: View {
    let session: ObservedSession
    @ViewBuilder let content: Content
    /// `true` if the session has ended by itself.
    let login: (Bool) -> Login

    var body: some View {
        Group {
            switch session.status {
            case .unknown where storeNeedsHelp: login(false)
            case .unknown: ProgressView()
            case .signedIn, .expired: content.id(session.subject)
            case .needsLogin: login(true)
            case .signedOut: login(false)
            }
        }
        .task { await session.follow() }
    }

    /// What is stored cannot be read by waiting: a login replaces it, or says what has to be mended.
    private var storeNeedsHelp: Bool { (session.failure as? CredentialStoreError)?.isTransient == false }
}
#endif

nonisolated enum SessionNotifications {
    static let changed = Notification.Name("com.example.app.session")

    /// Posts a notification for each change, whoever caused it: the app, the server or another process.
    static func post(of service: AsyncAccessTokenService) -> Task<Void, Never> {
        let statuses = service.sessionStatuses()  // They end with the service, which the task does not keep.
        return Task {
            for await status in statuses {
                NotificationCenter.default.post(name: changed, object: nil, userInfo: ["status": status])
            }
        }
    }

    /// The same for a service that is told by `onEvent`: the end of a session is one of two events.
    static func post(_ event: AccessTokenEvent) {
        switch event.kind {
        case .signedOut:  // The app has signed out.
            NotificationCenter.default.post(name: changed, object: nil, userInfo: ["status": SessionStatus.signedOut])
        case .loginNeeded:  // The server has ended the session, or another process has, or nobody was signed in.
            let status = event.errorCode == "signedOut" ? SessionStatus.signedOut : .needsLogin
            NotificationCenter.default.post(name: changed, object: nil, userInfo: ["status": status])
        default: break
        }
    }
}
