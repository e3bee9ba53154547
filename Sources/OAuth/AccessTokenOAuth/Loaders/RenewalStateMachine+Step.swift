import AccessTokenCore
import Foundation

/// What a load does with a record, before it has done anything: a question, which changes nothing.
extension RenewalStateMachine {
    /// What a load does next with a record.
    enum Step {
        /// It sends nothing.
        case settle(CredentialChange, Outcome)
        /// The reply to a request that was noted may still come.
        case awaitReply
        case send(refreshToken: String, CredentialRecord, count: Int, hasRival: Bool)
        case sendGrant(for: CredentialRecord?)
    }

    /// What the load would need before it sends, by a record that was read from outside of the exclusion.
    ///
    /// `nil` if it would send nothing: a load that finds what another process has brought waits for no turn.
    func need(by record: CredentialRecord?, _ memory: LoaderMemory, at now: Date) -> Need? {
        need(of: step(on: record, memory, at: now))
    }

    func need(of step: Step) -> Need? {
        switch step {
        case .settle, .awaitReply: nil
        case .send: settings.sendsByTurn ? .turn : nil
        case .sendGrant(let record): .grant(SessionMark(record?.credential))
        }
    }

    func step(on record: CredentialRecord?, _ memory: LoaderMemory, at now: Date) -> Step {
        if memory.hasEnded(record) {
            return .settle(.remove, .failure(AccessTokenError.signedOut))
        }
        // Another user has signed in, perhaps in another process.
        if record?.credential.isOfAnother(than: settings.subject) == true {
            return .settle(.keep, .failure(AccessTokenError.signedOut))
        }
        if let unsaved = memory.unsaved, unsaved.belongs(on: record) {
            // A token that this very load brought is its answer, however short it lives.
            let token = unsaved.credential.accessToken(for: settings.key).flatMap { $0 == brought ? $0 : nil }
            return .settle(.replace(unsaved.credential), token.map { .answer($0) } ?? .again)
        }
        // A load without a caller needs no token, and may have a refusal or a hold to write.
        if isWanted || !memory.isUnwritten, let token = adoptable(record, memory, at: now) {
            return .settle(.keep, .answer(token))
        }
        guard let record, let refreshToken = record.credential.refreshToken else {
            guard isWanted else { return .settle(.keep, .failure(OAuthError.timedOut)) }
            return settings.hasGrant ? .sendGrant(for: record) : .settle(.keep, .failure(AccessTokenError.signedOut))
        }
        return renewal(of: record, refreshToken, memory, at: now)
    }

    private func renewal(
        of record: CredentialRecord,
        _ refreshToken: String,
        _ memory: LoaderMemory,
        at now: Date
    ) -> Step {
        if let dated = hold(on: refreshToken, record.credential, memory, at: now) {
            if settings.hasGrant, dated.hold.isUntilDecided { return .settle(.remove, .again) }
            let isWritten = !memory.isUnwritten || record.credential.holds.contains { $0.hold == dated.hold }
            return .settle(isWritten ? .keep : written(dated, in: record.credential, memory), failure(dated.hold.error))
        }
        switch verdict(on: record.credential.note, memory, at: now) {
        case .refused(isOver: true): return .settle(.remove, refusal)
        case .refused(isOver: false): return .settle(.keep, failure(.refused("invalid_grant")))
        case .lost where memory.refused.isExactly(refreshToken), .send where memory.refused.isExactly(refreshToken):
            return .settle(afterRefusal(of: record, record.credential.note), refusal)
        case .lost(let error): return .settle(.keep, failure(error))
        case .awaited where !isWanted && !watchesOn(record, memory, at: now), .send where !isWanted:
            return .settle(.keep, failure(.timedOut))
        case .awaited: return .awaitReply
        case .send(let count, let hasRival):
            return .send(refreshToken: refreshToken, record, count: count, hasRival: hasRival)
        }
    }

    /// A load without a caller writes what is owed, sends nothing, and tells nobody why.
    private func failure(_ error: OAuthError) -> Outcome { .failure(isWanted ? error : .timedOut) }

    /// The hold that the store did not take at first.
    private func written(_ dated: DatedHold, in credential: Credential, _ memory: LoaderMemory) -> CredentialChange {
        let note = credential.note ?? newNote(count: 1, hasRival: false, memory, at: dated.since)
        return .replace(credential.noting(note.with(.held(dated.hold))))
    }

    /// Why a refresh token is not to be sent, by what the record or this process knows of the last reply to it.
    private func hold(
        on refreshToken: String,
        _ credential: Credential,
        _ memory: LoaderMemory,
        at now: Date
    ) -> DatedHold? {
        // Without a note that holds, this process may know more than it could write down.
        let known = credential.note?.hold == nil ? memory.holds(on: refreshToken) : []
        return (known + credential.holds).first { dated in
            let (hold, age) = (dated.hold, now.timeIntervalSince(dated.since))
            return (hold.isUntilDecided || hold.key.isExactly(settings.key))
                && !hold.isOver(after: age, takesType: settings.takesType)
        }
    }

    private enum Verdict {
        case send(count: Int, hasRival: Bool)
        case awaited
        case lost(OAuthError)
        case refused(isOver: Bool)
    }

    /// Whether a refresh token may be sent, by what the record says of earlier requests.
    private func verdict(on note: SentNote?, _ memory: LoaderMemory, at now: Date) -> Verdict {
        guard let note else { return .send(count: 1, hasRival: false) }
        switch note.outcome {
        case .held:
            // That is over: see above.
            return .send(count: 1, hasRival: note.hasRival)
        case .refused:
            return .refused(isOver: settings.hasGrant || note.isOlder(than: note.patience, at: now))
        case .lost:
            if note.isOlder(than: settings.quietTime, at: now) { return .send(count: 1, hasRival: note.hasRival) }
            // Once more is right: it succeeds if the token is unspent. A third time only looks like theft.
            if note.count < 2 { return .send(count: note.nextCount, hasRival: note.hasRival) }
            let left = settings.quietTime - now.timeIntervalSince(note.sent)
            return .lost(.unavailable(status: 504, retryAfter: left.rounded(.up)))
        case .awaited where note.sender == memory.process:
            // Its end could not be written down, unless it is under way.
            if memory.sending.contains(note.number) { return .awaited }
            return .send(count: note.nextCount, hasRival: note.hasRival)
        case .awaited:
            // Another loader of this process has announced it, and is no more.
            if note.isOver { return .send(count: note.nextCount, hasRival: note.hasRival) }
            let isOver = watch(on: note, memory, at: now).isOver(after: settings.takeOverDelay, at: now)
            return isOver ? .send(count: note.nextCount, hasRival: true) : .awaited
        }
    }

    /// Whether a note is that of another process, which is going to send or waits for the reply.
    func isOfAnother(_ note: SentNote, _ memory: LoaderMemory) -> Bool {
        note.outcome == .awaited && note.sender != memory.process
    }

    /// What is known of the sender of a note after this look.
    func watch(on note: SentNote, _ memory: LoaderMemory, at now: Date) -> SenderWatch {
        SenderWatch(memory.watch, seeing: note, delay: settings.takeOverDelay, at: now)
    }

    /// Whether a load for which no caller waits still has to find out if the sender of a note is dead.
    ///
    /// The callers' deadline may be shorter than the take-over delay: the next load goes on with what this one has
    /// seen.
    private func watchesOn(_ record: CredentialRecord?, _ memory: LoaderMemory, at now: Date) -> Bool {
        guard settings.takeOverDelay < .infinity, let note = record?.credential.note, isOfAnother(note, memory),
            !note.isSenderPresent
        else { return false }
        return !watch(on: note, memory, at: now).isOver(after: settings.takeOverDelay, at: now)
    }

    var refusal: Outcome {
        settings.hasGrant ? .again : .failure(OAuthError.refused("invalid_grant"))
    }

    /// Removes the record of a refused token.
    ///
    /// Another process may still get the successor, which beats the removal: then the record stays, and says "refused".
    func afterRefusal(of record: CredentialRecord, _ note: SentNote?) -> CredentialChange {
        guard let note, note.hasRival, !settings.hasGrant else { return .remove }
        return .replace(record.credential.noting(note.with(.refused)))
    }

    /// By value: what a store makes of a date need not be equal to the last digit.
    func adoptable(_ record: CredentialRecord?, _ memory: LoaderMemory, at now: Date) -> AccessToken? {
        guard !memory.hasEnded(record), let credential = record?.credential,
            !credential.isOfAnother(than: settings.subject),
            credential.isUsable(for: settings.key, at: now, leeway: settings.leeway),
            let token = credential.accessToken(for: settings.key), token.secret != old?.secret
        else { return nil }
        return token
    }
}
