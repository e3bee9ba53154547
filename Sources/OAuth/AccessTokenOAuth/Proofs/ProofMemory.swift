import AccessTokenSynchronization
import Foundation

/// What servers have said of proofs: the nonce to use next, and how far their clock is from this one.
///
/// By origin (RFC 9449, section 9), and in memory only. An endpoint has one memory and a loader's ``TokenProofs``
/// another: an authorization server and a resource of one origin have nonces of their own.
final class ProofMemory: Sendable {
    struct Entry: Hashable {
        var nonce: String?
        /// Seconds by which the server's clock is ahead.
        var clockOffset: TimeInterval = 0
    }

    /// A server may make the address of an endpoint of what others say: there is an end to what is kept.
    private static let most = 256

    private let entries = Locked<[WebOrigin: Entry]>([:])

    subscript(url: URL) -> Entry {
        guard let origin = WebOrigin(of: url) else { return Entry() }
        return entries.withLock { $0[origin] } ?? Entry()
    }

    func keep(_ url: URL, _ change: (inout Entry) -> Void) {
        guard let origin = WebOrigin(of: url) else { return }
        entries.withLock { entries in
            if entries.count >= Self.most, entries[origin] == nil { entries = [:] }
            change(&entries[origin, default: Entry()])
        }
    }
}
