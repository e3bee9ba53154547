/// All that a service knows between a sign-in and the next sign-in or sign-out: a token, and a load.
///
/// | case | a caller | what it can become |
/// | --- | --- | --- |
/// | `signedOut` | is refused | another session |
/// | `current` | gets the token while it is valid; near its end, a load ahead starts; then the caller waits for a load | `current` by a late answer; `loadingAhead`; `outdated`; `held` or `loading` |
/// | `loadingAhead` | gets the token while it is valid; then waits | `current` by the load's end; `loading` |
/// | `outdated` | waits for a load | `current` by a late answer; `held` or `loading` |
/// | `held` | waits | `loading`; `outdated` if nobody waits any more |
/// | `loading` | waits | `current`; `outdated` by an error, or an answer that was rejected meanwhile |
///
/// A current token becomes outdated by a rejection, by a look that finds no session in the store or another user's, or
/// when it has expired and callers need a load. A token that was rejected while its own load was still running is
/// outdated from the beginning. A late answer is one of a load that was past its deadline (T2); while a newer load is
/// running, the late answer counts only if that load fails.
///
/// So callers wait in two cases, `held` and `loading`, and in these nobody is given a token.
///
/// A load is apart on the heap: most services of a process that has many load nothing just now.
///
/// A sign-in or a sign-out ends every case. The clock makes no case: whether a current token is valid is asked when a
/// caller comes.
enum Session: Sendable {
    /// No user is signed in.
    case signedOut
    /// The token that came last; it may have expired.
    case current(CachedToken)
    /// The token that came last, whose successor is being loaded ahead of its expiration.
    indirect case loadingAhead(CurrentLoad, current: CachedToken)
    /// No token that can be handed out. One that was rejected, or had expired when a load was needed, is replaced by
    /// the next load.
    case outdated(CachedToken?)
    /// Callers wait for a load that starts when no load of a session that this one replaced is running any more (O9).
    ///
    /// The load will run inside of these loads, as the first of the callers asked inside of them.
    case held(inside: [Load.ID], outdated: CachedToken?)
    /// Callers wait for the load that is running.
    indirect case loading(CurrentLoad, outdated: CachedToken?)

    /// The token that callers are given while it is valid.
    var current: CachedToken? {
        switch self {
        case .current(let token), .loadingAhead(_, let token): token
        case .signedOut, .outdated, .held, .loading: nil
        }
    }

    /// The load that is running, and whose answer counts.
    var runningLoad: CurrentLoad? {
        switch self {
        case .loadingAhead(let load, _), .loading(let load, _): load
        case .signedOut, .current, .outdated, .held: nil
        }
    }

    /// Whether every caller has to wait, whatever the time is.
    var isAwaited: Bool {
        switch self {
        case .held, .loading: true
        case .signedOut, .current, .loadingAhead, .outdated: false
        }
    }

    /// The token that the running load replaces, or that the next load will replace.
    var tokenToReplace: CachedToken? {
        switch self {
        case .signedOut, .current: nil
        case .loadingAhead(_, let token): token
        case .outdated(let token), .held(_, let token), .loading(_, let token): token
        }
    }

    /// The newest load that brought a token of this session: also one that was rejected, or is kept aside.
    var newestLoad: Int {
        let loads = [current?.load, tokenToReplace?.load, runningLoad?.late?.load]
        return loads.lazy.compactMap(\.self).max() ?? 0
    }

    /// Changes the load that is running, if there is one.
    mutating func withRunningLoad(_ change: (inout CurrentLoad) -> Void) {
        switch self {
        case .loadingAhead(var load, let token):
            change(&load)
            self = .loadingAhead(load, current: token)
        case .loading(var load, let token):
            change(&load)
            self = .loading(load, outdated: token)
        case .signedOut, .current, .outdated, .held: break
        }
    }

    /// The current token is not handed out any more.
    mutating func retireToken() {
        switch self {
        case .current(let token): self = .outdated(token)
        case .loadingAhead(let load, let token): self = .loading(load, outdated: token)
        case .signedOut, .outdated, .held, .loading: break
        }
    }

    /// The load has ended without a token, or need not start any more.
    mutating func endLoad() {
        switch self {
        case .loadingAhead(_, let token): self = .current(token)
        case .held(_, let token), .loading(_, let token): self = .outdated(token)
        case .signedOut, .current, .outdated: break
        }
    }
}
