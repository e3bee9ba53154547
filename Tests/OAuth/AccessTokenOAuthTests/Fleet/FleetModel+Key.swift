import AccessTokenCore
import Foundation

@testable import AccessTokenOAuth

extension FleetModel {
    /// What tells one state from another, as far as anything can come of the difference.
    ///
    /// Times are relative to now. How long ago something was sent counts only where the clock of the database is
    /// trusted.
    var key: [UInt8] {
        var key: [UInt8] = [
            UInt8(faultsLeft), (signOutLeft ? 1 : 0) + (hasSignedOut ? 2 : 0), UInt8(row.version), UInt8(generation),
            code(of: row.holder),
        ]
        key += code(of: row.credential)
        key += spenders.map { UInt8($0) }
        key.append(UInt8(requests.count))
        for request in requests { key.append(UInt8(request.process * 16 + request.generation)) }
        key.append(UInt8(lateEntries.count))
        for entry in lateEntries { key.append(code(of: entry)) }
        for process in processes { key += code(of: process) }
        return key
    }

    private func code(of holder: Row.Holder?) -> UInt8 {
        holder.map { UInt8($0.process + 1) * 2 + ($0.isStale ? 1 : 0) } ?? 0
    }

    private func code(of credential: Credential?) -> [UInt8] {
        guard let credential else { return [0] }
        return [UInt8(credential.refreshToken ?? "") ?? 0] + code(of: credential.note)
    }

    private func code(of note: SentNote?) -> [UInt8] {
        guard let note else { return [255] }
        let outcome: UInt8 =
            switch note.outcome {
            case .awaited: 0
            case .lost: 1
            case .refused: 2
            case .held: 3
            }
        let isOld = note.isOlder(than: note.patience, at: now)
        return [
            UInt8(note.sender * 16) + UInt8(note.number), UInt8(note.count) * 8 + (note.hasRival ? 4 : 0) + outcome,
            (isOld ? 1 : 0) + (note.isSenderPresent ? 2 : 0),
        ]
    }

    private func code(of process: FleetProcess) -> [UInt8] {
        var key: [UInt8] = [
            process.life.rawValue + (process.isShown ? 4 : 0) + (process.wasAway ? 8 : 0)
                + (process.isPausing ? 16 : 0) + (process.leavesAgain ? 32 : 0),
            UInt8(max(0, process.backIn)), UInt8(min(process.away, Self.delay)),
            UInt8(process.attempts * 8 + process.vainLooks), code(of: process.former),
        ]
        guard process.life != .dead else { return key }
        switch process.stage {
        case .outside: key.append(0)
        case .asking(let record): key += [1] + code(of: record)
        case .sending(let record, let generation): key += [2, UInt8(generation)] + code(of: record)
        case .waiting(let record): key += [3] + code(of: record)
        case .leaving(let record, let change): key += [4] + code(of: record) + code(of: change)
        case .done: return key + [5]
        }
        let machine = process.machine
        key += [UInt8(machine.looks), UInt8(machine.failedSaves)]
        switch machine.state {
        case .looking: key.append(0)
        case .announcing(let note): key += [1] + code(of: note)
        case .announced(let note, let version): key += [2, UInt8(version)] + code(of: note)
        case .sending(let note, _): key += [3] + code(of: note)
        case .settled(let change, let outcome): key += [4, outcome.code] + code(of: change)
        case .waiting: key.append(6)
        case .ended: key.append(5)
        }
        let memory = process.memory
        key += [UInt8(memory.exchanges), UInt8(memory.sending.count), memory.refused == nil ? 0 : 1]
        key += code(of: memory.unsaved?.credential)
        if let watch = memory.watch {
            let gap = min(now.timeIntervalSince(watch.lastLook) / Self.tick, 2)
            let absence = min(watch.absence / Self.tick, TimeInterval(Self.delay))
            key += [UInt8(absence), UInt8(gap)] + code(of: watch.note)
        }
        return key
    }

    private func code(of record: StoredRecord) -> [UInt8] { [UInt8(record.version)] + code(of: record.credential) }

    private func code(of change: CredentialChange) -> [UInt8] {
        switch change {
        case .keep: [0]
        case .replace(let credential): [1] + code(of: credential)
        case .remove: [2]
        }
    }
}

extension RenewalStateMachine.Outcome {
    fileprivate var code: UInt8 {
        switch self {
        case .answer: 0
        case .failure: 1
        case .again: 2
        case .wait: 3
        }
    }
}
