/// A bug that can be planted in ``PlainService``, named for what it does wrong.
enum PlantedBug: String, CaseIterable, Sendable {
    case neverCaches
    case ignoresLeeway
    case expiresOneInstantLate
    case unknownExpirationIsExpired
    case leewayTakesAll
    case failsAtOnceInWindow
    case renewsForEachCall
    case failureDropsTheToken
    case joinersLoad
    case clearsNewerFlights
    case onlyTheLeaderFails
    case replacesErrors
    case failuresStick
    case ignoresInvalidation
    case blanketInvalidation
    case invalidationDropsTheFlight
    case signOutForgetsWaiters
    case signOutUndoneByLateAnswer
    case signInUndoneByLateAnswer
    case loadsAfterSignOut
    case cancelledWaiterWaits
    case cancelledWaiterFailsAll
    case lastOneOutCancelsTheLoad
    case cancelledWaiterStays
    case timedOutWaitersStay
    case lastInFirstOut
    case answersInsideTheCall
    case answersOnTheLoadersThread
    case answersBeforeTheStateChanges
    case weakSelf
    case takesEveryAnswer
    case registersAfterLoading
    case noDeadline
    case deadlineKeepsTheSlot
    case dropsLateAnswers

    /// The clause that the bug breaks, among others perhaps.
    var clause: String {
        switch self {
        case .neverCaches: "C1"
        case .ignoresLeeway, .expiresOneInstantLate: "C2"
        case .unknownExpirationIsExpired: "C3"
        case .leewayTakesAll: "C4"
        case .failsAtOnceInWindow, .renewsForEachCall, .failureDropsTheToken: "C5"
        case .joinersLoad: "S2"
        case .clearsNewerFlights: "S3"
        case .onlyTheLeaderFails, .replacesErrors: "F1"
        case .failuresStick: "F2"
        case .ignoresInvalidation: "I1"
        case .blanketInvalidation: "I2"
        case .invalidationDropsTheFlight: "I3"
        case .signOutForgetsWaiters, .signOutUndoneByLateAnswer: "O1"
        case .signInUndoneByLateAnswer: "O2"
        case .loadsAfterSignOut: "O3"
        case .cancelledWaiterWaits, .cancelledWaiterFailsAll: "X1"
        case .lastOneOutCancelsTheLoad: "X2"
        case .cancelledWaiterStays, .timedOutWaitersStay: "D1"
        case .lastInFirstOut: "D2"
        case .answersInsideTheCall: "D3"
        case .answersOnTheLoadersThread: "D4"
        case .answersBeforeTheStateChanges: "D5"
        case .weakSelf: "D6"
        case .takesEveryAnswer: "D7"
        case .registersAfterLoading: "D8"
        case .noDeadline, .deadlineKeepsTheSlot: "T1"
        case .dropsLateAnswers: "T2"
        }
    }
}
