/// What can happen to a service, in the words of the contract; callers and loads are numbered from 1.
enum Input: Hashable {
    case retrieve
    case retrieveCancelled
    /// Code inside a load, which may be over by now, asks the service of that load.
    case askByLoader(load: Int)
    case cancel(caller: Int)
    case finish(load: Int, Answer)
    case answerAgain(load: Int)
    case deadline(load: Int)
    case invalidate(String)
    case signIn
    /// With a token that has expired already.
    case signInExpired
    /// The loader has the credential of a new session.
    case signInWithoutToken
    case signOut
    case clock(ClockMove)

    enum Answer: Hashable {
        case token
        /// A token that expired before it came.
        case expiredToken
        /// The very token that the service held last, as from a store that was not written.
        case sameToken
        /// The very token that the load was to replace; the service holds another one by now.
        case replacedToken
        case failure
    }

    enum ClockMove: Hashable {
        /// To the instant at which the next thing becomes due: the end of a token's freshness, or of its usability.
        case nextEdge
        /// Until every token has expired.
        case pastAll
        /// Back by more than any token lives.
        case back
    }
}

/// How a caller was answered.
enum Outcome: Hashable {
    case token(String)
    case failure(load: Int)
    case signedOut
    case timedOut
    case askedItself
    case cancelled
    case unexpected(String)
}
