import AccessTokenCore
import AccessTokenGCD
import AccessTokenOAuth
import Dispatch
import Foundation

/// What all openings of one place share, as a disk or a database is shared.
final class SharedDisk: Sendable {
    struct Content: Sendable {
        var access: AccessToken?
        var rest: Credential?
        var version = 0
        var isClosed = false

        var record: CredentialRecord? {
            rest.map { rest in
                let credential = Credential(
                    accessToken: access,
                    refreshToken: rest.refreshToken,
                    scope: rest.scope,
                    obtained: rest.obtained,
                    otherMembers: rest.otherMembers
                )
                return CredentialRecord(credential: credential, version: version)
            }
        }
    }

    private static let disks = Locked<[String: SharedDisk]>([:])

    /// How a wait for the lock ended.
    enum Turn { case entered, busy, cancelled }

    let content = Locked(Content())
    /// Whether the lock is held, and who waits for it.
    let lock = TimedWaiters<Bool, Turn>(false)

    /// Calls `then` when the lock is free, or with the reason why it was not waited for any longer.
    func enter(
        _ id: TimedWaiters<Bool, Turn>.WaiterID,
        atMost limit: TimeInterval,
        then: @escaping @Sendable (Turn) -> Void
    ) {
        lock.wait(id, atMost: limit, by: SystemClock(), timedOut: .busy) { isLocked in
            defer { isLocked = true }
            return isLocked ? nil : .entered
        } then: {
            then($0)
        }
    }

    func leave() {
        let next = lock.withLock { isLocked, waiters in
            isLocked = !waiters.isEmpty
            return isLocked ? waiters.removeFirst() : nil
        }
        next?.end(with: .entered)
    }

    static func named(_ name: String) -> SharedDisk {
        disks.withLock { disks in
            let disk = disks[name] ?? SharedDisk()
            disks[name] = disk
            return disk
        }
    }
}

/// A store that keeps the contract without a bug, and has one bug at a time otherwise.
final class BuggyStore: CredentialStore, CustomStringConvertible {
    enum Bug: String, CaseIterable, Sendable {
        case storesNothing, losesMembers, remembersWhatItRead, comesBackAfterRemoval, removalIsForGood
        case returnsTheOldRecord, countsByTwo, countsWhatIsKept, deletesTheVersion
        case noExclusion, locksItsOpeningOnly, readsBeforeTheLock, runsTheBodyTwice, oneWaiterIsForgotten
        case forgetsAfterAnError, staysLockedAfterAnError, wrapsErrors
        case loadWaits, writesInPlace, waitsForEver, isBusyAndRuns, blocksThreads, losesWhatIsCancelled
        case waitsOnWhenCancelled, printsSecrets
    }

    private struct WrappedError: Error {}

    private let disk: SharedDisk
    private let bug: Bug?
    private let waitLimit: TimeInterval
    private let lockOfOpening = SharedDisk()
    private let memory = Locked<CredentialRecord?>(nil)
    private let waits = Locked(0)

    init(_ disk: SharedDisk, bug: Bug?, waitLimit: TimeInterval) {
        self.disk = disk
        self.bug = bug
        self.waitLimit = waitLimit
    }

    var description: String {
        bug == .printsSecrets ? "a store of \(disk.content.withLock { $0.rest?.refreshToken } ?? "nothing")" : "a store"
    }

    private var lock: SharedDisk { bug == .locksItsOpeningOnly ? lockOfOpening : disk }

    func load() async throws -> CredentialRecord? {
        if bug == .loadWaits {
            try await enter()
            leave()
        }
        if bug == .remembersWhatItRead, let record = memory.withLock({ $0 }) { return record }
        let record = disk.content.withLock { $0.record }
        memory.withLock { $0 = record }
        return record
    }

    func update(_ body: CredentialUpdate) async throws -> CredentialRecord? {
        let early = disk.content.withLock { $0.record }
        defer { memory.withLock { $0 = nil } }
        do {
            try await enter()
        } catch CredentialStoreError.busy where bug == .isBusyAndRuns {
            _ = try await body(early)
            throw CredentialStoreError.busy
        }
        var staysLocked = false
        defer { if !staysLocked { leave() } }
        let old = bug == .readsBeforeTheLock ? early : disk.content.withLock { $0.record }
        do {
            var change = try await body(old)
            if bug == .runsTheBodyTwice { change = try await body(old) }
            if bug == .losesWhatIsCancelled { try Task.checkCancellation() }
            try await write(change)
        } catch {
            if bug == .forgetsAfterAnError { try await write(.remove) }
            staysLocked = bug == .staysLockedAfterAnError
            throw bug == .wrapsErrors ? WrappedError() : error
        }
        return bug == .returnsTheOldRecord ? old : disk.content.withLock { $0.record }
    }

    // MARK: Exclusion

    private func enter() async throws {
        guard bug != .noExclusion else { return }
        if bug == .oneWaiterIsForgotten, lock.lock.withLock({ isLocked, _ in isLocked }),
            waits.withLock({
                $0 += 1
                return $0 == 3
            })
        {
            await unsafe withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        }
        switch await turn() {
        case .entered: return
        case .busy: throw CredentialStoreError.busy
        case .cancelled: throw CancellationError()
        }
    }

    private func turn() async -> SharedDisk.Turn {
        let id = lock.lock.makeID()
        let limit = bug == .waitsForEver ? 3600 : waitLimit
        if bug == .blocksThreads { return turnOfThread(id, atMost: limit) }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                lock.enter(id, atMost: limit) { continuation.resume(returning: $0) }
                // A caller that was cancelled before it waited.
                if Task.isCancelled, bug != .waitsOnWhenCancelled { lock.lock.end(id, with: .cancelled) }
            }
        } onCancel: {
            if bug != .waitsOnWhenCancelled { lock.lock.end(id, with: .cancelled) }
        }
    }

    private func turnOfThread(
        _ id: TimedWaiters<Bool, SharedDisk.Turn>.WaiterID,
        atMost limit: TimeInterval
    ) -> SharedDisk.Turn {
        let hasEnded = DispatchSemaphore(value: 0)
        let turn = Locked(SharedDisk.Turn.busy)
        lock.enter(id, atMost: limit) { outcome in
            turn.withLock { $0 = outcome }
            hasEnded.signal()
        }
        hasEnded.wait()
        return turn.withLock { $0 }
    }

    private func leave() {
        lock.leave()
    }

    // MARK: Writing

    private func write(_ change: CredentialChange) async throws {
        switch change {
        case .keep:
            if bug == .countsWhatIsKept { disk.content.withLock { $0.version += 1 } }
        case .replace(let credential):
            if bug == .storesNothing { return }
            if bug == .writesInPlace {
                disk.content.withLock { $0.access = credential.accessToken }
                for _ in 0..<100 { await Task.yield() }
            }
            disk.content.withLock { content in
                if bug == .removalIsForGood, content.isClosed { return }
                content.access = credential.accessToken
                content.rest = bug == .losesMembers ? Credential(refreshToken: credential.refreshToken) : credential
                content.version += bug == .countsByTwo ? 2 : 1
            }
        case .remove:
            if bug == .comesBackAfterRemoval { return }
            disk.content.withLock { content in
                content.access = nil
                content.rest = nil
                content.isClosed = true
                if bug == .deletesTheVersion { content.version = 0 }
            }
        }
    }
}
