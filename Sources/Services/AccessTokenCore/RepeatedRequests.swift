package import AccessTokenFoundation

/// A service that `withToken` asks whether a request that was rejected is sent once more.
///
/// The services of this package answer, and adapters hand the questions on. A service of others has no answer that is
/// known here: `nil`, and a request is sent once more whatever has become of others.
package protocol RequestRepeating: Sendable {
    /// Grows at sign-in and sign-out, and when a look finds another user, or nobody any more: a request of one session
    /// is not repeated in another.
    var userEpoch: Int? { get }

    /// What became of requests that were sent once more.
    func withRepeatedRequests<Result: Sendable>(_ body: (inout RepeatedRequests, _ now: Date) -> Result) -> Result?
}

/// Decides whether the next token can help a request whose token was rejected, by what became of the requests before.
///
/// A server that refuses every token would otherwise cost a load for each request.
package struct RepeatedRequests: Sendable {
    /// So many tokens in a row were rejected although each was loaded in place of a rejected one: there is a pause.
    static let mostUselessTokens = 2
    /// Seconds in which no rejected request is sent once more.
    ///
    /// The first one after them shows whether that helps again.
    static let pause: TimeInterval = 60

    private var useless = RejectedTokens()
    private var pauseBegan: Date?
    private var sessionEpoch = 0

    package init() {}

    /// Whether a request whose token was rejected may be sent with the next one.
    package mutating func mayRepeat(in session: Int, at now: Date) -> Bool {
        if session > sessionEpoch { self = RepeatedRequests(in: session) }
        // A request of a former session says nothing of the present one.
        guard session == sessionEpoch, let pauseBegan else { return true }
        // A wall clock that was set back must not prolong the pause.
        return !(0..<Self.pause).contains(now.timeIntervalSince(pauseBegan))
    }

    /// A request was sent once more, with this token.
    package mutating func repeated(with token: AccessToken, isRejected: Bool, in session: Int, at now: Date) {
        guard session == sessionEpoch else { return }
        guard isRejected else { return self = RepeatedRequests(in: session) }
        useless.insert(token)
        guard useless.count >= Self.mostUselessTokens else { return }
        pauseBegan = now
        useless = RejectedTokens()
        useless.insert(token)
    }

    private init(in session: Int) { sessionEpoch = session }
}

extension RequestRepeating {
    package func mayRepeat(in session: Int?) -> Bool {
        guard let session else { return true }
        return withRepeatedRequests { $0.mayRepeat(in: session, at: $1) } ?? true
    }

    package func repeated(with token: AccessToken, isRejected: Bool, in session: Int?) {
        guard let session else { return }
        _ = withRepeatedRequests { $0.repeated(with: token, isRejected: isRejected, in: session, at: $1) }
    }
}
