extension BuggyService {
    /// A bug that can be planted, named for what it does wrong.
    package enum Bug: String, CaseIterable, Sendable {
        // Caching
        case neverLoads
        case neverCaches
        case ignoresExpiration
        case ignoresLeeway
        case expiresOneInstantLate
        case expiryEndsTheSession
        case unknownExpirationIsExpired
        case leewayTakesAll
        case neverAnswersInWindow
        case refreshesAheadForEachCall
        case dropsWhatNobodyAwaits
        case signInForgetsTheExpiration
        // Single flight
        case joinersLoad
        case loadsBesideALoadAhead
        case newSessionJoinsTheOldLoad
        case clearsNewerLoads
        // Failure
        case onlyTheFirstWaiterFails
        case loadAheadFailsInSilence
        case replacesErrors
        case failuresStick
        case failureDropsTheToken
        case cancelledLoadStays
        case loadsAgainAfterFailure
        case failuresServeOneWaiter
        // Invalidation
        case ignoresInvalidation
        case blanketInvalidation
        case invalidationDropsTheLoad
        case manyRejectionsLoadTwice
        case forgetsWhatIsReplaced
        case refreshAnswersFromTheCache
        case eachRefreshLoads
        case refreshLoadsBesideALoad
        case signedInTokensStay
        case endedLoadAnswersOn
        // Sessions
        case signOutForgetsWaiters
        case signOutUndoneByLateAnswer
        case signOutUndoneByALoadAhead
        case triesAgainAfterSignOut
        case signOutOfNobodyIsIgnored
        case signOutIsACancellation
        case loadsAfterSignOut
        case loaderKeepsTheSession
        case signInUndoneByLateAnswer
        case signInUndoneByLateFailure
        case signInFailsWaiters
        case signInLeavesSignedOut
        // Cancellation
        case cancelledWaiterWaits
        case cancelledWaiterFailsAll
        case cancelledWaiterStays
        case cancellationIsSignOut
        case lastOneOutEndsTheLoad
        // Delivery
        case lastInFirstOut
        case answersInsideTheCall
        case answersOnTheLoadersThread
        case answersBeforeTheStateChanges
        case answersTokensUnderALock
        case answersErrorsUnderALock
        case changesNeedTheHandlersLock
        case weakSelf
        case takesEveryAnswer
        case repeatedAnswerReachesTheNextLoad
        case swallowsRepeatedAnswers
        case registersAfterLoading
        case loadsUnderALock
        // Deadlines
        case noDeadline
        case timedOutLoadStays
        case timedOutWaitersStay
        case deadlineIsACancellation
        case dropsLateAnswers
        // Matters of order alone: called by one caller after the other, the service behaves.
        /// A waiter is registered a moment after it found the load that it joins.
        case registersLate
        /// A waiter can be cancelled a moment after it was registered.
        case cancellableLate
        /// After an error the load is forgotten a moment after its waiters were answered.
        case failureForgetsWaitersLate
        /// Timers are set and cancelled a moment after they were decided, in any order.
        case effectsOutOfOrder
    }
}
