#if Postgres
import AccessTokenOAuth
import AccessTokenSynchronization
import Foundation

/// Who is going to send a refresh token: what the note says, and what there is to be seen of its sender.
extension PostgresCredentialStores {
    /// A note that is new names this process, by the number that shows whether it lives; `nil` if there is no new one.
    ///
    /// A note that comes with other tokens, from another store, is not of this process, and keeps its name.
    func signed(_ new: StoredRecord, over old: StoredRecord) -> (StoredRecord, SentNote?) {
        guard let credential = new.credential, var note = credential.sentNote, note.isAwaited,
            credential.isSame(as: old.credential), !note.isSame(as: old.credential?.sentNote)
        else { return (new, nil) }
        note.presence = number.value
        return (StoredRecord(version: new.version, credential: credential.noting(note)), note)
    }

    /// The record, with what there is to be seen of the process that was going to send its refresh token.
    func seeing(_ record: StoredRecord, of account: String) async throws -> StoredRecord {
        guard let credential = record.credential, var note = credential.sentNote, note.isAwaited,
            let sender = note.presence
        else { return record }
        if sender == number.value {
            // Its bodies are over: this one is inside, in the account's turn.
            note.isOver = true
        } else {
            note.isSenderPresent = try await run(within: waitLimit, at: account) {
                [table] connection throws(PostgresFailure) in
                try table.isPresent(sender, by: connection)
            }
        }
        return StoredRecord(version: record.version, credential: credential.noting(note))
    }

    /// Removes a note that was written or not: whoever wanted to send has given up, and sends nothing.
    ///
    /// It may arrive late, as any statement. While it is there, other processes would wait for this one.
    func withdraw(_ note: SentNote, of account: String) {
        Task { [clock, weak self] in
            for pause in [1, 2, 4, 8, 16, 32] as [TimeInterval] {
                guard (try? await clock.pause(for: pause)) != nil, let self else { return }
                _ = try? await update(account) { record in
                    guard let credential = record?.credential, let present = credential.sentNote, present.isAwaited,
                        present.isSame(as: note)
                    else { return .keep }
                    return .replace(credential.noting(nil))
                }
            }
        }
    }
}
#endif
