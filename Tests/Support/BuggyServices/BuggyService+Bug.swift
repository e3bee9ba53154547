extension BuggyService {
    /// A bug that can be planted, named for what it does wrong.
    package enum Bug: String, CaseIterable, Sendable {
        // Caching
        case neverLoads, neverCaches, ignoresExpiration, ignoresLeeway, expiresOneInstantLate, expiryEndsTheSession
        case unknownExpirationIsExpired, leewayTakesAll, neverAnswersInWindow, refreshesAheadForEachCall
        case dropsWhatNobodyAwaits, signInForgetsTheExpiration, expiredTokenIsCurrent
        // Single flight
        case joinersLoad, joinersLoadAfterExpiry, decidesInTwoSteps, loadsBesideALoadAhead, clearsNewerLoads
        case newSessionJoinsTheOldLoad
        // Failure
        case onlyTheFirstWaiterFails, loadAheadFailsInSilence, replacesErrors, failuresStick, failureDropsTheToken
        case cancelledLoadStays, loadsAgainAfterFailure, failuresServeOneWaiter
        // Invalidation
        case ignoresInvalidation, blanketInvalidation, invalidationDropsTheLoad, manyRejectionsLoadTwice
        case forgetsWhatIsReplaced, refreshAnswersFromTheCache, eachRefreshLoads, refreshLoadsBesideALoad
        case signedInTokensStay, endedLoadAnswersOn
        // Sessions
        case signOutForgetsWaiters, signOutUndoneByLateAnswer, signOutUndoneByALoadAhead, triesAgainAfterSignOut
        case signOutOfNobodyIsIgnored, signOutIsACancellation, loadsAfterSignOut, loaderKeepsTheSession
        case signInUndoneByLateAnswer, signInUndoneByLateFailure, signInFailsWaiters, signInLeavesSignedOut
        case signInOverATokenIsIgnored, secondSignOutIsIgnored, refreshLoadsAfterSignOut
        // Cancellation
        case cancelledWaiterWaits, cancelledWaiterFailsAll, cancelledWaiterStays, cancellationIsSignOut
        case lastOneOutEndsTheLoad, lastOneOutEndsTheLoadAhead
        // Delivery
        case lastInFirstOut, answersSixteen, answersInsideTheCall, answersBeforeTheStateChanges
        case answersTokensUnderALock, answersErrorsUnderALock, changesNeedTheHandlersLock, weakSelf, takesEveryAnswer
        case repeatedAnswerReachesTheNextLoad, swallowsRepeatedAnswers, registersAfterLoading, loadsUnderALock
        // Deadlines
        case noDeadline, timerOutlivesItsLoad, timedOutLoadStays, timedOutWaitersStay, deadlineIsACancellation,
            dropsLateAnswers
        // Matters of order alone: called by one caller after the other, the service behaves.
        /// A waiter is registered a moment after it found the load that it joins.
        case registersLate
        /// A waiter can be cancelled a moment after it was registered.
        case cancellableLate
        /// After an error the load is forgotten a moment after its waiters were answered.
        case failureForgetsWaitersLate
        /// Timers are set and cancelled a moment after they were decided, in any order.
        case effectsOutOfOrder
        /// The token that the service is made with is thrown away.
        case forgetsTheStoredToken
        /// A session whose load failed is not replaced by the next login.
        case signInAfterAFailureIsIgnored
        // Situations that no round was written for
        case noDeadlineAhead, noDeadlineForced, timeOutAheadDropsToken, timeOutForcedDropsToken, failureForcedDropsToken
        case forcedWaitersStayAtFailure, forcedWaitersStayAtDeadline, lateAnswerIgnoresSignOut, lateAnswerIgnoresSignIn
        case signInDuringALoadAheadIsIgnored, secondSignOutSignsIn, signOutAnswersOffQueue, deadlineAnswersOffQueue
        case signInAnswersOffQueue, windowAnswersOffQueue, refusedRefreshOffQueue
        case locksAtSignOut, locksAtDeadline, locksAtCancel, locksAtCache, locksWhenRefused
        case lateTokenClearsNewerLoad, lateFailureFailsNewerWaiters, cancelOfTheLastTakesTheOneBefore
        case failureAheadAfterExpirySticks, signInLeavesForcedWaiters, signOutLeavesForcedWaiters
        case newSessionJoinsTheOldLoadAhead, cancelStopsTheDeadline, joinerPostponesTheDeadline,
            rejectionStopsTheDeadline
        case secondFailureSticks, cancelledLoadAheadStays, loadsAheadUnderALock
        case repeatedAnswerReplacesSignedInToken, aheadTokenNeverExpires, forcedTokenNeverExpires,
            forcedTokenIsNotCached
        case expiredSignInIsServed, rejectionAfterSignInIsIgnored, lateTokenNeverExpires
        case timeOutForgetsRejection, secondRejectionIsIgnored
        case storedTokenHasNoLeeway, timerOutlivesItsSession, refusedLoadAheadFailsInSilence
        case loadsAgainForExpiredTokens, signOutWaitsForTheLoader, signOutEndsTwice
        case noDeadlineInASecondSession, lateForcedTokenReplacesNewer
        /// A login hands out its token, and what the server refused before it is told again when that has expired.
        case refusalOutlivesItsSession
        /// The refusal of a load beside a valid token ends the session, also one that has begun since.
        case refusedRefreshEndsTheNextSession
        /// What loads lives as long as the first caller: once that is cancelled, every later load fails.
        case sourceBelongsToTheFirstCaller
    }
}
