public import AccessTokenAsync
import AccessTokenCore
public import AccessTokenGCD

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
    @usableFromInline
    struct Entry {
        @usableFromInline
        let service: Service
        /// How many sign-outs are under way: the service stays until the last one is done.
        var signOuts = 0
    }

    private let make: @Sendable (Account) -> Service
    @usableFromInline
    let entries = Locked<[Account: Entry]>([:])

    /// Creates accounts without any service.
    ///
    /// - Parameter make: makes the service of an account; it must not ask these accounts for anything, and is not to
    ///   take long: others wait for it.
    public init(make: @escaping @Sendable (Account) -> Service) {
        self.make = make
    }

    /// The accounts that have a service, in no order.
    public var accounts: [Account] {
        entries.withLock { Array($0.keys) }
    }

    /// The account's service, which is made if there is none.
    ///
    /// During a sign-out it is the one that signs out, which answers `AccessTokenError.signedOut`: a second one would
    /// load with the credential that is being removed.
    @inlinable
    public func service(for account: Account) -> Service {
        entries.withLock { $0[account]?.service } ?? newService(for: account)
    }

    @usableFromInline
    func newService(for account: Account) -> Service {
        entries.withLock { entries in
            // Another caller may have been faster.
            let entry = entries[account] ?? Entry(service: make(account))
            entries[account] = entry
            return entry.service
        }
    }

    fileprivate func beginSignOut(_ account: Account) -> Service {
        entries.withLock { entries in
            var entry = entries[account] ?? Entry(service: make(account))
            entry.signOuts += 1
            entries[account] = entry
            return entry.service
        }
    }

    fileprivate func endSignOut(_ account: Account) {
        // The service leaves the lock before it is released: it may have much to do then.
        _ = entries.withLock { entries -> Entry? in
            entries[account]?.signOuts -= 1
            return entries[account]?.signOuts == 0 ? entries.removeValue(forKey: account) : nil
        }
    }
}

extension AccessTokenAccounts where Service: AsyncAccessTokenProviding {
    /// Signs an account out, also one that had no service yet, and removes its service.
    ///
    /// Returns when its loader has forgotten the session, also to a cancelled caller. Let the account sign in again after
    /// that: the next service is a new one.
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
