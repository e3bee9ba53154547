public import AccessTokenAsync
public import AccessTokenGCD
public import AccessTokenSynchronization
public import Foundation

/// One service per account, made on demand, and never two for one account.
///
/// ```swift
/// let accounts = AccessTokenAccounts<UserID, AsyncAccessTokenService> { user in
///     AsyncAccessTokenService(loader: OAuthLoader(endpoint: endpoint, store: store(of: user)))
/// }
/// let token = try await accounts.service(for: user).token()
/// ```
///
/// **Concurrency** Can be used from any thread, with services of either kind.
public final class AccessTokenAccounts<Account: Hashable & Sendable, Service: Sendable>: Sendable {
    private let make: @Sendable (Account) -> Service
    private let limits: AccountLimits?
    @usableFromInline
    let table: Locked<AccountTable<Account, Service>>

    /// Makes services on demand, and keeps each of them until its account is signed out.
    ///
    /// - Parameter make: makes the service of an account. It must not ask these accounts for anything, and must not
    ///   take long: all callers wait for it.
    public init(make: @escaping @Sendable (Account) -> Service) {
        self.make = make
        limits = nil
        table = Locked(AccountTable())
    }

    /// Makes services on demand, and lets go of those that are not used.
    ///
    /// The account stays signed in: its credential is in the store, and its next call has a service made. A service
    /// that is let go lives on while it loads, while anybody waits for it, or while your code keeps a reference to it.
    /// Until that ends, the account gets the same service again, and never a second one.
    ///
    /// - Parameters:
    ///   - idleLimit: seconds without a call of ``service(for:)`` after which a service is let go; it may stay for half
    ///     as long again.
    ///   - most: how many services are kept; beyond that, the tenth that was not used for the longest time is let go.
    ///   - clock: timers.
    ///   - make: as above.
    public init(
        idleLimit: TimeInterval,
        most: Int = .max,
        clock: any AccessTokenClock = SystemClock(),
        make: @escaping @Sendable (Account) -> Service
    ) where Service: AnyObject {
        self.make = make
        limits = AccountLimits(idleLimit: idleLimit, most: most, clock: clock)
        table = Locked(AccountTable { service in { [weak service] in service } })
    }

    /// The accounts that have a service in this process, in no order.
    ///
    /// These are not the accounts that have a session, which only a store knows: `PostgresCredentialStores` lists those
    /// with `accounts(after:most:)`, and tells with `endedSessions()` which of them end.
    public var accounts: [Account] { table.withLock { $0.services }.map(\.account) }

    /// The account's service, which is made if there is none.
    ///
    /// During a sign-out it is the one that signs out, which answers `AccessTokenError.signedOut`: a second one would
    /// load with the credential that is being removed.
    @inlinable
    public func service(for account: Account) -> Service {
        table.withLock { $0.use(account) } ?? newService(for: account)
    }

    /// The account's service, if this process has one: nothing is made, and asking is no use of the service.
    ///
    /// For what concerns only those that are there, such as the end of a session that another process has ended.
    public func existingService(for account: Account) -> Service? { table.withLock { $0.existing(account) } }

    @usableFromInline
    func newService(for account: Account) -> Service {
        let (service, isSweepNext) = table.withLock { table in
            (table.service(for: account, orMadeBy: make), limits != nil && table.planSweep())
        }
        if let limits {
            if release({ $0.letGoBeyond(limits.most) }) > 0 { forgetReleased() }
            if isSweepNext { planSweep(limits) }
        }
        return service
    }

    /// The services leave the lock before they are released: they may have much to do then.
    private func release(_ choose: (inout AccountTable<Account, Service>) -> [Service]) -> Int {
        table.withLock { choose(&$0) }.count
    }

    private func forgetReleased() { _ = release { $0.forgetReleased() } }

    private func planSweep(_ limits: AccountLimits) {
        _ = limits.clock.schedule(after: limits.idleLimit / 2) { [weak self] in
            guard let self else { return }
            _ = release { $0.letGoIdle() }
            // Also those that lived on after an earlier sweep.
            forgetReleased()
            if table.withLock({ $0.planSweep() }) { planSweep(limits) }
        }
    }

    fileprivate func beginSignOut(_ account: Account) -> Service {
        table.withLock { $0.beginSignOut(account, orMadeBy: make) }
    }

    fileprivate func endSignOut(_ account: Account) {
        // The service leaves the lock before it is released: it may have much to do then.
        _ = table.withLock { $0.endSignOut(account) }
    }
}

private struct AccountLimits: Sendable {
    let idleLimit: TimeInterval
    let most: Int
    let clock: any AccessTokenClock

    init(idleLimit: TimeInterval, most: Int, clock: any AccessTokenClock) {
        self.idleLimit = idleLimit > 0 ? idleLimit : 1
        self.most = max(1, most)
        self.clock = clock
    }
}

extension AccessTokenAccounts where Service: AsyncAccessTokenProviding {
    /// Signs an account out, also one that had no service yet, and removes its service.
    ///
    /// Returns when its loader has forgotten the session, also to a cancelled caller. Let the account sign in again
    /// after that: the next service is a new one.
    public func signOut(_ account: Account) async {
        await beginSignOut(account).signOut()
        endSignOut(account)
    }
}

extension AccessTokenAccounts where Service: AccessTokenProviding {
    /// Signs an account out, also one that had no service yet, and removes its service, for callback code.
    ///
    /// `done` is called when the service is removed, on the thread on which the service says that it is signed out.
    public func signOut(_ account: Account, then done: @escaping @Sendable () -> Void) {
        beginSignOut(account).signOut { [self] in
            endSignOut(account)
            done()
        }
    }
}
