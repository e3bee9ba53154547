/// All that a service knows between a sign-in and the next sign-in or sign-out: a token, and a load.
///
/// | token | load | a caller | the token can become |
/// | --- | --- | --- | --- |
/// | none | none | starts a load | current by a late answer |
/// | none | held, or running | waits | current by the load or a late answer; outdated |
/// | current | none | gets the token while valid; then starts a load | current by a late answer; outdated |
/// | current | running ahead | gets the token while valid; then waits | current by that load or late answer; outdated |
/// | outdated | none | starts a load, told the token | current by a late answer |
/// | outdated | held, or running | waits | current by the load or a late answer; a newer outdated one |
///
/// A current token becomes outdated by a rejection, or when it has expired and callers need a load. A token is outdated
/// from the beginning if it was rejected before the load ended that brought it. A late answer is one of a load that was
/// past its deadline (T2); while a newer load is running, the late answer counts only if that load fails. If a load
/// fails and no late answer came, the token stays.
///
/// A sign-in or a sign-out ends every one of these states. The clock makes no state: whether a current token is valid
/// is asked when a caller comes.
struct Session: Sendable {
    enum TokenState: Sendable {
        case none
        /// The token that came last; it may have expired.
        case current(CachedToken)
        /// A token that was rejected, or had expired when a load was needed; the next token replaces it.
        case outdated(CachedToken)
    }

    enum LoadState: Sendable {
        case none
        /// Callers wait for a load that starts when no load of a session that this one replaced is running any more
        /// (O9).
        ///
        /// The load will run inside of these loads, as the first of the callers asked inside of them.
        case held(inside: [LoadID])
        case running(CurrentLoad)
    }

    var token = TokenState.none
    var load = LoadState.none

    /// The token that callers are given while it is valid.
    var current: CachedToken? {
        if case .current(let token) = token { token } else { nil }
    }

    /// The load that is running, and whose answer counts.
    var runningLoad: CurrentLoad? {
        if case .running(let load) = load { load } else { nil }
    }

    var hasLoad: Bool {
        if case .none = load { false } else { true }
    }

    /// The token that the running load replaces, or that the next load will replace.
    var tokenToReplace: AccessToken? {
        switch token {
        case .none: nil
        case .current(let token): hasLoad ? token.token : nil
        case .outdated(let token): token.token
        }
    }

    /// The newest load that brought a token of this session: also one that was rejected, or is kept aside.
    var newestLoad: Int {
        switch token {
        case .none: runningLoad?.late?.load ?? 0
        case .current(let token), .outdated(let token): max(token.load, runningLoad?.late?.load ?? 0)
        }
    }

    /// Changes the load that is running, if there is one.
    mutating func withRunningLoad(_ change: (inout CurrentLoad) -> Void) {
        guard case .running(var current) = load else { return }
        change(&current)
        load = .running(current)
    }

    /// The current token is not handed out any more.
    mutating func retireToken() {
        if case .current(let token) = token { self.token = .outdated(token) }
    }
}
