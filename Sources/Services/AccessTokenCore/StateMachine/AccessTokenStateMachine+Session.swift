#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension AccessTokenStateMachine {
    // MARK: Sessions

    /// What becomes of those who wait when a session begins.
    package enum SignInAction: Sendable {
        /// No caller waits, or the session brings them neither a token nor a load.
        case none
        case answerWaiters(LoadResult)
        /// Let them wait on, for a load that has to be started.
        case load(LoadStart)

        /// What all waiters are answered with, if they are.
        package var answer: LoadResult? {
            if case .answerWaiters(let answer) = self { answer } else { nil }
        }

        /// The load that has to be started.
        package var start: LoadStart? {
            if case .load(let start) = self { start } else { nil }
        }
    }

    /// A session began, with this token or with one that has to be loaded; whatever an older session's load brings is ignored
    /// from now on (O2).
    ///
    /// Those who waited for a load of the former session are answered with the token. If there is none, or one that has
    /// expired, they go on to wait, for a load of this session.
    package mutating func signIn(_ token: AccessToken?, waiters: Int, at now: Date) -> SignInAction {
        let token = token.map { CachedToken($0, load: lastLoad, policy: policy, at: now) }
        let usable = token.flatMap { $0.isUsable(at: now) ? $0 : nil }
        report(.init(.signedIn, waiters: usable == nil ? 0 : waiters))
        guard let former = beginSession(Session(token: token)) else { return .none }
        if let usable { return .answerWaiters(.success(usable.token)) }
        guard waiters > 0 else { return .none }
        let caller = CallerContext(priority: former.priority, loads: former.enclosing)
        return .load(replaceToken(for: caller, at: now))
    }

    /// The session ended: its waiters are answered (O1), and so is everybody until the next sign-in (O3).
    ///
    /// - Returns: the answer to all waiters; `nil` if there was no load to be ended.
    package mutating func signOut(waiters: Int) -> LoadResult? {
        report(.init(.signedOut, waiters: waiters))
        return beginSession(nil).map { _ in .failure(AccessTokenError.signedOut) }
    }

    /// The loader did not say in time that it has forgotten the session.
    package mutating func signOutTimedOut() {
        report(.init(.signOutTimedOut))
    }

    /// Returns the load of the former session.
    private mutating func beginSession(_ session: Session?) -> CurrentLoad? {
        sessionEpoch += 1
        defer { self.session = session }
        return self.session?.load
    }
}
