import AccessTokenGCD

/// What two services on trial have decided, and what of it can be compared.
///
/// They are compared from rest to rest: a period ends when both have answered all calls and none is loading. Both get the
/// same inputs in the same order, except for the answers of loads: when a service has digested one cannot be seen from
/// outside, save by the calls that it answers then. What comes in between, one service may take before the answer and the
/// other after it, and both are right; so it spoils the rest of the period.
struct ShadowRecord {
    enum Input {
        case call(Int)
        case cancellation(Int)
        case rejection
        case newSession
    }

    enum Effect {
        case report(ShadowDifference)
        case wait(Wait)
        case answerShadow(AccessTokenHandler, ShadowLoad, Result<AccessToken, any Error>)
    }

    /// What is waited for no longer than patience lasts.
    enum Wait {
        case otherAnswers(Set<Int>)
        case servingLoad(ShadowLoad)
        case equalLoads(period: Int)
    }

    struct Call {
        var isComparable: Bool
        var isCancelled = false
        /// The loads that had ended before it.
        let loadsBefore: Int
        var serving: Result<AccessToken, any Error>?
        var shadow: Result<AccessToken, any Error>?

        var isHalfAnswered: Bool { (serving == nil) != (shadow == nil) }
    }

    let servingSide: ShadowService.Side
    var comparedCalls = 0
    var otherCalls = 0

    var serving = ShadowSide()
    var shadow = ShadowSide()

    // MARK: The period

    var period = 0
    var isSpoiled = false
    var hasNewSession = false
    var isWaitingForLoads = false
    /// Inputs, and answers of loads, on their way to the shadow.
    var underWay = 0
    /// Both are in the same state, as far as is known.
    var areInStep = true
    /// The last input, if it was a call; and whether both answered it alike.
    var lastCall: Int?
    var lastCallAgrees = false

    var calls: [Int: Call] = [:]
    var lastCallNumber = 0
    var isWaitingForAnswers = false

    // MARK: Loads

    var runningLoads: Set<ShadowLoad> = []
    var results: [ShadowLoad: Result<AccessToken, any Error>] = [:]
    var waitingLoads: [ShadowLoad: AccessTokenHandler] = [:]
    var latestResult: Result<AccessToken, any Error>?
    /// The tokens of the last loads, by which answers are recognised.
    var recentTokens: [(value: String, load: Int)] = []
    var lastLoadNumber = 0

    init(serving: ShadowService.Side) {
        servingSide = serving
    }

    // MARK: Rest

    var isAtRest: Bool {
        serving.unanswered.isEmpty && shadow.unanswered.isEmpty && underWay == 0 && calls.isEmpty
            && runningLoads.isEmpty && waitingLoads.isEmpty
    }

    /// The shadow waits for a load, and the serving one has nothing to load for.
    var isWaitingForPatience: Bool {
        !waitingLoads.isEmpty && runningLoads.isEmpty && underWay == 0 && serving.unanswered.isEmpty
    }

    /// Ends the period if both are at rest, and not one load apart that may still come.
    mutating func rest() -> [Effect] {
        guard isAtRest else { return [] }
        if serving.loads == shadow.loads || isSpoiled || hasNewSession || !areInStep {
            endPeriod()
            return []
        }
        guard !isWaitingForLoads else { return [] }
        isWaitingForLoads = true
        return [.wait(.equalLoads(period: period))]
    }

    mutating func endPeriod() {
        if isSpoiled { areInStep = false }
        if lastCallAgrees { areInStep = true }
        let epoch = max(serving.epoch, shadow.epoch) + 1
        serving = ShadowSide(epoch: epoch, isUnknown: serving.isUnknown)
        shadow = ShadowSide(epoch: epoch, isUnknown: shadow.isUnknown)
        period += 1
        isSpoiled = false
        hasNewSession = false
        isWaitingForLoads = false
        results = [:]
    }
}
