import AccessTokenAdapters

/// What is known of a service while a script is played.
///
/// All of it was seen or done; nothing is predicted. Where a fact demands something, it carries the id of the clause
/// that does, so that each fault has its clause.
struct Facts {
    /// How the present session began.
    enum Beginning {
        case start
        case afterSignOut
        /// A sign-in without a sign-out before it.
        case overAnother(withExpiredToken: Bool)
    }

    /// The wall clock's time, and the time that has passed, in seconds.
    var now: Double
    var elapsed = 0.0
    /// A token that the service had before the script, and that had expired, may be valid again.
    var wasSetBack = false

    var session = 1
    var beginning = Beginning.start
    /// The sessions that a sign-in ended, and no sign-out since.
    var replacedSessions: Set<Int> = []
    var isSignedIn = true
    /// A load was refused for good: some services end the session then.
    var mayBeOver = false
    /// A load was refused for good, and no sign-in has come since; and then: no load has brought a token since.
    var isRefused = false
    var followsRefusal = false
    /// A handler of the present step changes the session, at some moment until the step's end.
    var isChanging = false
    /// One of these changes is a sign-in.
    var isSigningIn = false
    var isDropped = false

    var loads: [Load] = []
    /// The last one is the newest that may be handed out.
    var tokens: [Token] = []
    var calls: [Int: Call] = [:]
    /// The callers without an answer, in the order of their calls.
    var waiting: [Int] = []

    /// The clause by which the next caller must have a load: the reason why there is no token.
    var lack = ClauseID.l1
    /// The clause by which callers learn of the end of what they wait for.
    var end = ClauseID.l1
    /// The clause that is broken if the waiters of a load that has ended in this step are not answered: something
    /// happened during the load that must not concern them.
    var disturbance: (clause: ClauseID, load: Int)?

    /// Whether a load may begin beside an answer from the cache, and whether one must.
    var mayLoadAhead = false
    var mustLoadAhead = false
    /// Whether a load may begin though nobody waits: services preload, renew by timers, or replace a token when it is
    /// rejected.
    var mayLoadUnasked = true
    var hadUselessLoadAhead = false

    /// The rejected token that the next load has to be told of, and the clause that demands it.
    var replaced: (value: String, clause: ClauseID)?
    /// How often the loader has to be told to forget the session, and how often it may be.
    var signOuts = 0
    var mostSignOuts = 0
    /// What a load of the present step failed with.
    var justFailed: (any Error)?
    /// What loads of former sessions failed with.
    var formerFailures: [any Error] = []

    /// The loads that run for the present session.
    var running: [Load] { loads.filter { $0.isRunning && $0.session == session } }

    /// The loads of former sessions that have not answered.
    var formerLoads: [Load] { loads.filter { $0.isRunning && $0.session != session } }

    /// What the loads are about, for a fault.
    var situation: String {
        guard !loads.isEmpty else { return "no load was started" }
        let running = running.map { "load \($0.number)" } + formerLoads.map { "load \($0.number) of a former session" }
        return "loads started: \(loads.count), "
            + (running.isEmpty ? "none is running" : "running: \(running.joined(separator: ", "))")
    }

    // MARK: Changes

    /// From now on a load that begins beside a running one breaks this clause.
    ///
    /// The clause noted before stays if the subject is known to break it.
    mutating func eachRunningLoad(isAloneBy clause: ClauseID, known: Set<ClauseID>) {
        for index in loads.indices where loads[index].isRunning {
            loads[index].disturbedBy = clause
            if !known.contains(loads[index].alone) { loads[index].alone = clause }
        }
    }

    /// No token must be handed out any more, though some may be.
    mutating func nothingIsSure() {
        for index in tokens.indices { tokens[index].sure = nil }
    }

    /// The token that must be handed out must be so by this clause from now on.
    mutating func sureToken(isSureBy clause: ClauseID?, if condition: (Token) -> Bool = { _ in true }) {
        guard let index = tokens.lastIndex(where: { $0.sure != nil && condition($0) }) else { return }
        tokens[index].sure = clause
    }

    /// Those who wait may be told of a failure.
    mutating func waitersMayFail(with error: (any Error)?) {
        for number in waiting {
            calls[number]?.mayFail = true
            if let error { calls[number]?.failures.append(error) }
        }
    }
}

extension Facts {
    /// A load that was seen to begin.
    struct Load {
        let number: Int
        let session: Int
        /// A load that begins while time passes may have begun at any time of it.
        let startedSince: Double
        let startedAt: Double
        let startedAtMoment: Int
        /// The token that it was told to replace, if nobody could use it any more.
        let replacingWorthless: String?
        let isForced: Bool
        let isAhead: Bool
        /// The clause that a load beside this one breaks.
        var alone: ClauseID
        /// The clause that says that the load goes on whatever happened beside it.
        var disturbedBy: ClauseID?
        var isRunning = true
        var isTimedOut = false
        /// It has answered, or its task was cancelled and has ended: nothing comes of it any more.
        var hasEnded = false
        /// It began while a handler changed the session.
        var mayBeOfFormerSession = false
    }

    /// A token that a load brought, or with which a session began.
    struct Token {
        let value: String
        let name: String
        let session: Int
        /// The load that brought it; at sign-in, the last one before.
        let load: Int
        let expiration: Double?
        /// When it counts as expired.
        let usableUntil: Double
        /// From here on a service with a leeway or a window of its own may replace it.
        let openFrom: Double
        let knownAt: Int
        /// It lives less than twice the leeway (C4).
        var isShort = false
        /// It lives shorter than any window: when its successor is loaded is left open.
        var isBrief = false
        /// It came expired, or came again, or while time passed, or the clock was set back.
        ///
        /// Good services differ in what they do with it, or nobody can say what is right.
        var isOdd = false
        /// The clause by which it must be handed out while it is usable; `nil` if it may be.
        var sure: ClauseID?
        var isPossible = true
        /// The clause by which it must not be handed out.
        var refused: ClauseID?
        var rejectedAt: Int?
        /// The first who were given it rejected it while others were still being given it (I8).
        var isRejectedWhileGiven = false
        var wasCurrent = false

        var isRejected: Bool { rejectedAt != nil }

        /// The clause by which a token that is sure must be handed out.
        var clause: ClauseID { sure ?? .c1 }
    }

    /// A call of the service.
    struct Call {
        let number: Int
        let isForced: Bool
        let session: Int
        let calledAt: Int
        /// Called from a handler.
        var isNested = false
        var isInsideLoad = false
        var isOfCrowd = false
        var isCancelled = false
        /// It has waited since before a sign-in.
        var isOfFormerSession = false
        var answers = 0
        /// It may have waited for a load that failed, and for these errors.
        var mayFail = false
        var failures: [any Error] = []
        /// The subject is known to break the clause by which it should have an answer.
        var isForgiven = false
    }
}
