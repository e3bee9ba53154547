import AccessTokenCore
import Foundation

extension RenewalStateMachine {
    // MARK: Answers

    /// What came of a request.
    enum Answer: Sendable {
        /// The server issued a credential, perhaps with an access token that cannot be used.
        case issued(Credential, Result<AccessToken, any Error>)
        case failed(any Error, RequestFate)
        /// A sign-in or a sign-out of this process is going to end the session, and does not wait any longer.
        ///
        /// The request stays under way until its reply comes: the store may not take the sign-in.
        case givenUp

        static func failed(_ error: OAuthError) -> Answer { .failed(error, RequestFate(of: error)) }
    }

    /// The exchange is over; `present` is the record after a refusal, where it could be read.
    mutating func answered(
        _ answer: Answer,
        present: CredentialRecord? = nil,
        _ memory: inout LoaderMemory,
        at now: Date
    ) -> CredentialChange {
        guard case .sending(let note, let record) = state else { return .keep }
        let isUnderWay = if case .givenUp = answer { true } else { false }
        if let note, !isUnderWay { memory.sending.remove(note.number) }
        switch answer {
        case .issued(let credential, let result):
            return issued(credential, result, in: record, &memory, at: now)
        case .givenUp:
            return settle(.keep, .failure(AccessTokenError.signedOut))
        case .failed(let error, let fate):
            guard let record, let refreshToken = record.credential.refreshToken else {
                return settle(.keep, .failure(error))
            }
            return failed(error, fate, refreshToken, in: record, note, present: present, &memory, at: now)
        }
    }

    private mutating func issued(
        _ credential: Credential,
        _ result: Result<AccessToken, any Error>,
        in record: CredentialRecord?,
        _ memory: inout LoaderMemory,
        at now: Date
    ) -> CredentialChange {
        memory.lost = nil
        let (old, new) = (record?.credential.refreshToken, credential.refreshToken)
        memory.passHolds(from: old, to: new, besides: settings.key, at: now)
        if credential.isOfAnother(than: settings.subject) {
            memory.unsaved = LoaderMemory.Unsaved(credential: credential, base: record?.credential)
            return settle(.replace(credential), .failure(AccessTokenError.signedOut))
        }
        brought = try? result.get()
        var saved = credential
        if case .failure(let error) = result, let hold = Hold(besideRefreshToken: error) {
            let note = newNote(count: 1, hasRival: false, memory, at: now)
            saved = holding(credential, by: hold, note, &memory, at: now)
        }
        memory.unsaved = LoaderMemory.Unsaved(credential: saved, base: record?.credential)
        return settle(.replace(saved), result.outcome)
    }

    private mutating func failed(
        _ error: any Error,
        _ fate: RequestFate,
        _ refreshToken: String,
        in record: CredentialRecord,
        _ note: SentNote?,
        present: CredentialRecord?,
        _ memory: inout LoaderMemory,
        at now: Date
    ) -> CredentialChange {
        let credential = record.credential
        // Some servers spend the refresh token before they fail. If so, the next reply is a refusal that does not say
        // why.
        if fate == .unanswered || (error as? OAuthError)?.isServerFailure == true { memory.lost = memory.lost ?? error }
        switch fate {
        case .notCarriedOut, .unanswered:
            guard let note else { return settle(.keep, .failure(error)) }
            let left = fate == .unanswered || note.hasRival ? note.lost(at: now) : nil
            return settle(.replace(credential.noting(left)), .failure(error))
        case .held(let hold):
            guard !settings.hasGrant || !hold.isUntilDecided else {
                unheard.append(error)
                return settle(.remove, .again)
            }
            memory.isUnwritten = true
            let note = note ?? newNote(count: 1, hasRival: false, memory, at: now)
            return settle(.replace(holding(credential, by: hold, note, &memory, at: now)), .failure(error))
        case .refused:
            (memory.refused, memory.held) = (refreshToken, nil)
            // The refusal hides what came first.
            if let lost = memory.lost.take() { unheard.append(lost) }
            // A peer may have rotated it all the same, in a store whose exclusion can be lost.
            if let present, present.version != record.version { return settle(.keep, .again) }
            memory.isUnwritten = true
            return settle(afterRefusal(of: record, note), settings.hasGrant ? .again : .failure(error))
        }
    }

    /// The credential with the note that its refresh token is not to be sent.
    private func holding(
        _ credential: Credential,
        by hold: Hold,
        _ note: SentNote,
        _ memory: inout LoaderMemory,
        at now: Date
    ) -> Credential {
        var hold = hold
        hold.key = hold.isUntilDecided ? nil : settings.key
        let dated = DatedHold(hold: hold, since: now)
        if let refreshToken = credential.refreshToken {
            let others = memory.holds(on: refreshToken).lasting(besides: hold.key, at: now)
            memory.held = HeldToken(refreshToken: refreshToken, holds: [dated] + others)
        }
        let others = credential.holdsLasting(besides: hold.key, at: now)
        return credential.holding(others).noting(note.with(.held(hold)))
    }

    // MARK: Outside the exclusion

    enum OutsideAction: Sendable {
        case enter
        case pause(TimeInterval)
        /// Obtain what the load lacks, and enter again.
        case wait(for: Need)
        case end(Result<AccessToken, any Error>)
    }

    /// The update is over; `present` is the record if the load was not let in, where it could be read.
    mutating func left(
        _ result: Result<CredentialRecord?, any Error>,
        present: CredentialRecord? = nil,
        _ memory: inout LoaderMemory,
        at now: Date
    ) -> OutsideAction {
        switch (state, result) {
        case (.waiting(let need), _):
            // The store may have another user at each look: that ends.
            if case .end(let busy) = lookAgain() { return .end(busy) }
            return .wait(for: need)
        case (.announcing(let note), .success(let record?)) where note.isSame(as: record.credential.note ?? note):
            state = .announced(note, version: record.version)
            return .enter
        case (.announcing(let note), .success), (.announcing(let note), .failure(CredentialStoreError.superseded)):
            memory.sending.remove(note.number)
            return lookAgain()
        case (.announcing(let note), .failure(let error)):
            // What came could not be saved either, so that nothing is sent.
            memory.sending.remove(note.number)
            return end(.failure(error))
        case (.settled(let change, let outcome), .success(let record)):
            guard isTaken(change, record) else { return lookAgain() }
            memory.took(change, leaving: record)
            let isOwn = record?.credential.isOfAnother(than: settings.subject) == false
            memory.seen = isOwn ? SessionMark(record?.credential) : nil
            switch outcome {
            // The store did not take a sign-out of meanwhile: the next look removes the record.
            case .answer where memory.hasEnded(record): return lookAgain()
            case .answer(let token): return end(.success(token))
            case .failure(let error): return end(.failure(error))
            case .again: return lookAgain()
            case .wait:
                state = .looking
                hasFoundRequest = true
                return .pause(Self.pause)
            }
        case (.settled(_, let outcome), .failure(let error)):
            failedSaves += 1
            // The exchange is not repeated: what it brought stays in memory, for the next attempt or the next load.
            if memory.unsaved != nil, failedSaves < Self.mostSaves { return lookAgain() }
            guard case .failure(let first) = outcome else { return end(.failure(error)) }
            // What the server says is of more use to callers than that it could not be written down.
            unheard.append(error)
            return end(.failure(first))
        case (_, .failure(let error)):
            if case .announced(let note, _) = state { memory.sending.remove(note.number) }
            // The process that is inside and does not let us in may have written what we want.
            return end(adoptable(present, memory, at: now).map { .success($0) } ?? .failure(error))
        case (_, .success):
            return end(.failure(CredentialStoreError.busy))
        }
    }

    /// The caller is answered that its time is over: a load that has sent nothing has nothing to do any more.
    ///
    /// Returns what the caller is told: a load that has not come to send says for what it has waited.
    @discardableResult
    mutating func deadlinePassed() -> OAuthError {
        isWanted = false
        switch state {
        case _ where hasSent: return .timedOut
        case .announcing, .announced: return .timedOut
        case .settled(_, .wait): return .timedOut(waitingFor: Self.otherRequest)
        case .looking where hasFoundRequest: return .timedOut(waitingFor: Self.otherRequest)
        case .looking, .waiting, .sending, .settled, .ended:
            return .timedOut(waitingFor: "the store, where another load or another process was, or which is slow")
        }
    }

    enum TurnEnd: Hashable, Sendable {
        /// The load can send nothing any more.
        case now
        /// What was announced may still be sent for so many seconds, and no longer.
        case after(TimeInterval)
        /// The request is under way.
        case withReply
    }

    /// When a load for which no caller waits has to give its turn back.
    func turnEnd(at now: Date) -> TurnEnd {
        switch state {
        case .sending: .withReply
        case .announcing(let note) where !note.isOlder(than: settings.longestAnnouncement, at: now),
            .announced(let note, _) where !note.isOlder(than: settings.longestAnnouncement, at: now):
            .after(settings.longestAnnouncement)
        case .looking, .waiting, .announcing, .announced, .settled, .ended: .now
        }
    }

    private static let otherRequest = "the reply to a request that another load or another process has announced"

    /// Takes the errors that no caller hears of, and the credentials that are to be revoked.
    mutating func takeLeftovers() -> (errors: [any Error], credentials: [Credential]) {
        defer { (unheard, worthless) = ([], []) }
        return (unheard, worthless)
    }

    // MARK: Parts

    private mutating func end(_ result: Result<AccessToken, any Error>) -> OutsideAction {
        state = .ended
        return .end(result)
    }

    private mutating func lookAgain() -> OutsideAction {
        looks += 1
        // Only a load that has sent nothing may say so.
        guard looks < Self.mostLooks else { return end(.failure(hasSent ? CredentialStoreError.superseded : .busy)) }
        state = .looking
        return .enter
    }

    /// Whether the store did as it was told: one that has lost its exclusion keeps what a peer wrote meanwhile.
    private func isTaken(_ change: CredentialChange, _ record: CredentialRecord?) -> Bool {
        switch change {
        case .keep: true
        case .remove: record == nil
        case .replace(let credential): record?.credential.isSame(as: credential) == true
        }
    }
}

extension Result<AccessToken, any Error> {
    fileprivate var outcome: RenewalStateMachine.Outcome {
        switch self {
        case .success(let token): .answer(token)
        case .failure(let error): .failure(error)
        }
    }
}
