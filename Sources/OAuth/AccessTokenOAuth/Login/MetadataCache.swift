import AccessTokenSynchronization
import Foundation

/// The metadata of authorization servers, for as long as their replies allow.
final class MetadataCache: Sendable {
    struct Key: Hashable, Sendable {
        let issuer: String
        let allowsInsecureHTTP: Bool
    }

    private typealias Entry = (server: AuthorizationServer, expiration: Date)

    /// Of this process.
    static let shared = MetadataCache()

    /// Seconds: what a server changes is seen within a day.
    static let longest: TimeInterval = 86_400

    /// An app has one server, and a service some.
    private static let mostEntries = 64

    private let entries = Locked<[Key: Entry]>([:])

    func server(_ key: Key, at now: Date) -> AuthorizationServer? {
        entries.withLock { entries in
            guard let entry = entries[key], now < entry.expiration else { return nil }
            // A wall clock that was set back must not prolong it.
            guard entry.expiration.timeIntervalSince(now) <= Self.longest else { return nil }
            return entry.server
        }
    }

    func keep(_ server: AuthorizationServer, as key: Key, until expiration: Date, at now: Date) {
        entries.withLock { entries in
            entries = entries.filter { now < $0.value.expiration }
            guard now < expiration, entries.count < Self.mostEntries else { return }
            entries[key] = (server, expiration)
        }
    }
}
