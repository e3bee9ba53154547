#if Postgres
import AccessTokenOAuth
public import Foundation

/// An account that has a credential, as ``PostgresCredentialStores/accounts(after:most:)`` lists it.
public struct ListedAccount: Hashable, Sendable {
    /// The name of the account's store.
    public let name: String
    /// When the tokens came last, by the clock of this machine; `nil` if the record does not say, or cannot be read.
    public let renewed: Date?
}

extension PostgresCredentialStores {
    /// The accounts that have a credential, page by page.
    ///
    /// ```swift
    /// var page = try await stores.accounts()
    /// while let last = page.last {
    ///     for account in page { print(account.name) }
    ///     page = try await stores.accounts(after: last.name)
    /// }
    /// ```
    ///
    /// A page is read by the table's primary key. An account that signs in or out meanwhile is listed or is not.
    ///
    /// **Cancellation** A cancelled task that waits for a connection throws `CancellationError`; a statement that runs is
    /// waited for.
    ///
    /// **Failure** `CredentialStoreError.unavailable(at:_:needsRepair:)`: the server cannot be reached or refused the
    /// statement, or no connection was free within the wait limit. A record that cannot be read is listed, without a
    /// date. Where there is no table yet, no account is listed, and nothing is thrown.
    ///
    /// - Parameters:
    ///   - name: the last one of the page before; `nil` begins.
    ///   - most: how many accounts a page has; 10,000 at most.
    /// - Returns: the accounts in the order of the database; none after the last page.
    @concurrent public func accounts(after name: String? = nil, most: Int = 1000) async throws -> [ListedAccount] {
        try await list(after: name, limit: min(max(1, most), 10_000)).map { listed in
            let credential = try? record(in: listed.row, of: listed.account).credential
            return ListedAccount(name: listed.account, renewed: credential?.renewed)
        }
    }
}
#endif
