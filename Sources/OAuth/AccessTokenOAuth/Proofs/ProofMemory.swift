import AccessTokenSynchronization
import Foundation

/// The servers that ask for proofs.
///
/// By origin (RFC 9449, section 9), and in memory only. An endpoint has one memory and a loader's ``TokenProofs``
/// another: an authorization server and a resource of one origin have nonces of their own.
final class ProofMemory: Sendable {
    /// A server may make the address of an endpoint of what others say: there is an end to what is kept.
    private static let most = 256

    private let origins = Locked<[WebOrigin: ProofOrigin]>([:])

    subscript(url: URL) -> ProofOrigin {
        guard let origin = WebOrigin(of: url) else { return ProofOrigin() }
        return origins.withLock { origins in
            if let known = origins[origin] { return known }
            if origins.count >= Self.most { origins = [:] }
            let new = ProofOrigin()
            origins[origin] = new
            return new
        }
    }
}
