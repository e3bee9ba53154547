import AccessTokenAdapters
import Foundation

/// What the contract allows and demands, in the light of what was seen so far.
///
/// It predicts nothing that good services differ in: it is told which loads began and who was answered. It says what
/// was not allowed (an answer, a load), and what is missing (an answer, a load) when everything has come to rest.
struct Specification {
    struct Fault: Sendable {
        let clause: ClauseID
        let expected: String
        let observed: String
    }

    let features: ContractFeatures
    let promises: Set<ClauseID>
    let policy: AccessTokenPolicy
    let errors: @Sendable (any Error) -> any Error
    let name: @Sendable (String) -> String
    /// A subject that promises all conventions is also held to what good services differ in and no clause says.
    let isStrict: Bool
    /// After so many loads the subject may refuse its callers for a while.
    let loadLimit: Int
    /// The clauses that the subject is known to break.
    let tolerated: Set<ClauseID>

    var facts: Facts
    /// The facts after each change of the present step: an answer that was right at one of these moments is right.
    var moments: [Facts] = []
    var moment = 0
    var faults: [Fault] = []
    /// Nobody can say what is right from here on: the script ends.
    var isUndecided = false
    /// A clause that the subject is known to break, and broke: from then on, only that a token of another session is
    /// handed out is a fault.
    var spoiledBy: ClauseID?

    var isSpoiled: Bool { spoiledBy != nil }

    /// The step that is judged at present, and how many seconds pass in it.
    var step: Step?
    var passing = 0.0
    /// Who waited before this step, and who of them was answered in it.
    var waitedBefore: [Int] = []
    var orderOfStep: [Int] = []

    init(
        _ subject: ContractSubject,
        policy: AccessTokenPolicy,
        now: Date,
        tolerated: Set<ClauseID>,
        name: @escaping @Sendable (String) -> String
    ) {
        features = subject.features
        promises = subject.promises
        errors = subject.errors
        isStrict = subject.promises.isSuperset(of: ServiceContract.conventions)
        loadLimit = subject.loadLimit ?? .max
        self.policy = policy
        self.name = name
        self.tolerated = tolerated
        facts = Facts(now: now.timeIntervalSinceReferenceDate)
    }

    // MARK: Steps

    mutating func begin(_ step: Step) {
        if self.step == .answerAmidCalls { facts.sureToken(isSureBy: .c1) { $0.sure == .s8 } }
        self.step = step
        passing = 0
        // Of callers on other threads nobody knows whether they were decided on before the load's answer or behind it.
        moments = step == .answerAmidCalls ? [facts] : []
        moment += 1
        waitedBefore = facts.waiting
        orderOfStep = []
        facts.mayLoadAhead = false
        facts.mustLoadAhead = false
        facts.mayLoadUnasked = false
        facts.justFailed = nil
        facts.disturbance = nil
        facts.isChanging = false
        facts.isSigningIn = false
        facts.end = .s1
    }

    /// The facts have changed.
    mutating func changed() {
        moment += 1
        moments.append(facts)
    }

    // MARK: Faults

    /// Clauses whose faults change nothing of what comes later, or are forgiven to those whom they leave waiting.
    static let leavingNothingBehind = harmless.union(forgivable)

    /// What a broken clause leaves behind, should the subject be known to break it.
    static let harmless: Set<ClauseID> = [
        .c7, .d2, .d3, .d4, .d11, .f3, .i4, .o5, .o7, .r2, .t4, .x5,
    ]

    /// - Parameters:
    ///   - isHarmless: nothing follows from the fault.
    ///   - isInexcusable: no fault before this one explains it.
    mutating func fault(
        _ clause: ClauseID,
        _ expected: String,
        _ observed: String,
        isHarmless: Bool = false,
        isInexcusable: Bool = false
    ) {
        guard !isUndecided, !isSpoiled || isInexcusable else { return }
        // After a second answer, all that goes wrong comes from it, but for where it goes and whether it is reported.
        let clause: ClauseID = step?.isSecondAnswer == true && clause != .d4 && clause != .d11 ? .d7 : clause
        guard tolerated.contains(clause) else {
            return faults.append(Fault(clause: clause, expected: expected, observed: observed))
        }
        guard !isHarmless, !Self.harmless.contains(clause) else { return }
        spoiledBy = spoiledBy ?? clause
    }

    /// A convention is judged if it is promised.
    mutating func unconventional(_ clause: ClauseID, _ expected: String, _ observed: String) {
        if promises.contains(clause) { fault(clause, expected, observed) }
    }

    // MARK: Tokens

    /// The token that a caller must be given.
    func sure(_ facts: Facts) -> Facts.Token? {
        guard facts.isSignedIn, let token = facts.tokens.last(where: { $0.sure != nil && $0.session == facts.session })
        else { return nil }
        let isUsable = isUsable(token, facts) && !isUnclear(token, facts)
        return isUsable && !token.isRejected && !token.isOdd ? token : nil
    }

    func isUsable(_ token: Facts.Token, _ facts: Facts) -> Bool {
        !features.contains(.expiry) || facts.now < token.usableUntil
    }

    /// Whether no load may begin beside the token.
    func isFresh(_ token: Facts.Token, _ facts: Facts) -> Bool {
        guard features.contains(.expiry) else { return true }
        if features.contains(.refreshAhead) { return facts.now < token.usableUntil - policy.refreshAhead }
        return isStrict || facts.now < token.openFrom
    }

    /// Whether a load may begin beside the token for a caller that is given it.
    func mayBeReplaced(_ token: Facts.Token, _ facts: Facts) -> Bool {
        token.session == facts.session && token.isPossible && !(isFresh(token, facts) && !isUnclear(token, facts))
    }

    /// Whether the token may be handed out and need not be: it lives shorter than twice the leeway (C4), it is at the
    /// last instant of its use (C7), or the subject has a leeway of its own.
    func isUnclear(_ token: Facts.Token, _ facts: Facts) -> Bool {
        guard features.contains(.expiry), let expiration = token.expiration else { return false }
        if !promises.contains(.c4), token.isShort { return facts.now < expiration }
        if !features.contains(.leeway), !isStrict, facts.now < expiration { return facts.now >= token.openFrom }
        return !promises.contains(.c7) && facts.now == token.usableUntil
    }

    /// A token as it is when it comes.
    func newToken(_ token: AccessToken, _ name: String, session: Int, load: Int) -> Facts.Token {
        let expiration = token.expiration?.timeIntervalSinceReferenceDate
        let life = expiration.map { $0 - facts.now } ?? .infinity
        var new = Facts.Token(
            value: token.value,
            name: name,
            session: session,
            load: load,
            expiration: expiration,
            usableUntil: expiration.map { $0 - min(policy.leeway, max(0, life / 2)) } ?? .infinity,
            openFrom: facts.now + life / 2,
            knownAt: moment
        )
        new.isShort = life < 2 * policy.leeway
        new.isBrief = life < 2 * (policy.leeway + policy.refreshAhead)
        // It came at some time of the step: nobody can say how long it lived then.
        new.isOdd = passing > 0
        return new
    }
}
