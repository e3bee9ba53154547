public import AccessTokenGCD

/// Counts which places of an app still call a callback service, so that a migration knows what is left.
///
/// Put it around the callback service that callers are given; no call site changes. Printed, it lists every function,
/// file and line that retrieved a token, invalidated one or signed out by a callback, the busiest first.
///
/// ```swift
/// let census = CallbackCensus(of: CallbackServiceView(of: service))
/// // … callers are given the census, and when the app has run for a while:
/// print(census)
/// ```
///
/// A call costs some microseconds more; files and lines are looked up when ``callSites`` is read. What it does not see:
/// code that never ran, and callers behind a function of the app's own, which is listed in their place. Async code that
/// was given the census is one entry, without a place. With optimization, a caller that was inlined appears as the
/// function that it became part of. Files and lines need line tables (`-g`, which SwiftPM's release builds have) and
/// Linux or macOS 26; without them the list has functions only, and for a stripped program, addresses.
///
/// **Concurrency** All methods can be called from any thread.
public final class CallbackCensus: AccessTokenProviding {
    private let base: any AccessTokenProviding
    private let images = CallStack.Images()
    private let calls = Locked<[CallStack: Int]>([:])

    /// Creates a census of those who call `base` through it.
    public init(of base: any AccessTokenProviding) {
        self.base = base
    }

    /// The places that called so far, the busiest first.
    public var callSites: [CallSite] {
        CallStack.callSites(calls.withLock { $0 })
    }

    /// Retrieves a token from the service; see ``AccessTokenProviding/retrieveToken(then:)``.
    @available(*, renamed: "token()")
    @discardableResult
    public func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
        count()
        return base.retrieveToken(then: handler)
    }

    /// A valid token, for async code that was given the census; it is counted too.
    public nonisolated(nonsending) func token() async throws -> AccessToken {
        try await AsyncServiceView(of: self).token()
    }

    /// Says that a server rejected this token; see ``AccessTokenProviding/invalidate(_:)``.
    public func invalidate(_ rejected: AccessToken) {
        count()
        base.invalidate(rejected)
    }

    /// Ends the session; see ``AccessTokenProviding/signOut(then:)``.
    public func signOut(then done: @escaping @Sendable () -> Void) {
        count()
        base.signOut(then: done)
    }

    private func count() {
        let stack = CallStack(images)
        calls.withLock { $0[stack, default: 0] += 1 }
    }
}

extension CallbackCensus: CustomStringConvertible {
    /// One line for each place, the busiest first, below a line with their number.
    public var description: String {
        let sites = callSites
        let calls = sites.reduce(0) { $0 + $1.count }
        return (["calls: \(calls), from call sites: \(sites.count)"] + sites.map { "  \($0)" }).joined(separator: "\n")
    }
}
