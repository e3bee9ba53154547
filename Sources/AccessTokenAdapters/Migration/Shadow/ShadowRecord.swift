import AccessTokenGCD

/// What two services on trial were given and have answered, and whether it is a difference.
///
/// Two different answers to one call are a difference unless timing explains both. It explains an answer that the service
/// can have had at some moment of the call, having taken its inputs and the answers of its loads in their order; only
/// when it takes in the answer of a load cannot be seen before it shows it. A service cannot have an error that it had
/// shown before the call, nor a token of a session that was over, nor one that it had shown and was told to be rejected,
/// nor one in whose place the other service wanted a new one before the call.
///
/// Every fact has its moment, a number that grows. Of each call only what is open is kept, and of loads and sessions
/// the last few.
struct ShadowRecord {
    enum Input {
        case call(Int)
        case cancellation(Int)
        case rejection(AccessToken)
        case signIn(AccessToken)
        case signOut
    }

    enum Effect {
        case report(ShadowDifference)
        case wait(Wait)
        case answerShadow(AccessTokenHandler, load: Int?, Result<AccessToken, any Error>)
    }

    /// What is waited for no longer than patience lasts.
    enum Wait {
        case otherAnswers(since: Int)
        case newLoad(ofShadow: Int, since: Int)
        case sameLoad(ShadowDifference, of: ShadowRole, load: Int)
    }

    /// The shadow's wish for a load, and the load of the serving service whose answer it is given.
    struct Want {
        let moment: Int
        let handler: AccessTokenHandler
        var load: Int?
        var isWaiting = true
    }

    struct SessionStart {
        let moment: Int
        let isSignOut: Bool
    }

    /// So many loads, sign-ins and changes of the session are remembered.
    static let memory = 16

    /// A shadow that is so many inputs behind has stopped, and is given nothing any more.
    static let mostInputsBehind = 10_000

    let servingSide: ShadowService.Side
    var comparedCalls = 0
    var otherCalls = 0

    private var moment = 0
    private var lastCallNumber = 0
    var calls: [Int: ShadowCall] = [:]
    var isWaitingForAnswers = false
    /// The inputs that the serving service was given and the shadow was not.
    var inputsBehind = 0
    var isShadowGivenUp = false
    var lastInputOfShadow = 0
    /// In the order of the serving service.
    var sources: [ShadowSource] = []
    var sessions = PerRole<[SessionStart]>([])
    /// The changes of the session that the serving service was given.
    var sessionCount = 0
    var lastLoadNumber = 0
    var wants: [Want] = []
    /// What the serving service has answered last in this session.
    var latestAnswer: Result<AccessToken, any Error>?
    /// Since then the two differ; what follows from that is not reported as well.
    var differsSince: Int?

    init(serving: ShadowService.Side) {
        servingSide = serving
    }

    /// How much is remembered.
    var count: Int { sources.count + sessions.serving.count + sessions.shadow.count + calls.count + wants.count }

    mutating func nextMoment() -> Int {
        moment += 1
        return moment
    }

    mutating func newCall() -> Int {
        lastCallNumber += 1
        if isShadowGivenUp { otherCalls += 1 } else { calls[lastCallNumber] = ShadowCall() }
        return lastCallNumber
    }

    /// Forgets the oldest, but not where a service has its present token from: that may be older than many loads.
    mutating func add(_ source: ShadowSource) {
        let present = ShadowRole.allCases.map { role in
            sources.lastIndex { $0.value != nil && $0.given[role] != nil }
        }
        if sources.count >= Self.memory, let oldest = sources.indices.first(where: { !present.contains($0) }) {
            sources.remove(at: oldest)
        }
        sources.append(source)
    }

    /// Patience has ended with something that was waited for.
    mutating func patienceEnded(_ wait: Wait) -> [Effect] {
        switch wait {
        case .otherAnswers(let since): otherAnswersAreMissing(since: since)
        case .newLoad(let want, let since): newLoadIsMissing(want, since: since)
        case .sameLoad(let difference, let role, let load): sameLoadIsMissing(difference, role, load)
        }
    }
}
