import AccessTokenGCD
import AccessTokenSynchronization
import CredentialStoreContract
import Dispatch
import Foundation

/// What all openings of one place share, as a disk or a database is shared.
final class SharedDisk: Sendable {
    private static let disks = Locked<[String: SharedDisk]>([:])

    let stored = Locked(StoredRecord(version: 0, credential: nil))
    let mutex: AsyncMutex
    /// A lock that somebody takes for the right one until a save replaces it, or until its holder drops it.
    let passingMutex: Locked<AsyncMutex>
    /// Who is inside.
    let holds = Locked<[Hold]>([])
    /// The same, for threads that wait until nobody is.
    let inside = DispatchGroup()

    private init(_ mutex: AsyncMutex) {
        self.mutex = mutex
        passingMutex = Locked(mutex)
    }

    static func loseExclusion(_ name: String) {
        let disk = disks.withLock { $0[name] }
        for hold in disk?.holds.withLock({ $0 }) ?? [] { hold.lose() }
    }

    static func named(_ name: String, mutex: AsyncMutex) -> SharedDisk {
        disks.withLock { disks in
            let disk = disks[name] ?? SharedDisk(mutex)
            disks[name] = disk
            return disk
        }
    }
}

/// The exclusion of one body.
final class Hold: Sendable {
    private enum State { case held, lost, over }

    private let mutex: AsyncMutex
    private let state = Locked(State.held)

    init(_ mutex: AsyncMutex) { self.mutex = mutex }

    var isLost: Bool { state.withLock { $0 == .lost } }

    func lose() { leave(.lost) }
    func end() { leave(.over) }

    private func leave(_ next: State) {
        let wasHeld = state.withLock { state in
            defer { if state == .held { state = next } }
            return state == .held
        }
        if wasHeld { mutex.unlock() }
    }
}

/// A store that keeps the contract without a bug, and has one bug at a time otherwise.
final class BuggyStore: CredentialStore, CustomStringConvertible {
    enum Bug: String, CaseIterable, Sendable {
        case storesNothing, losesMembers, losesTheKey, remembersWhatItRead, comesBackAfterRemoval, removalIsForGood
        case returnsTheOldRecord, countsByTwo, countsWhatIsKept, deletesTheVersion, removalKeepsTheVersion
        case noExclusion, locksItsOpeningOnly, readsBeforeTheLock, runsTheBodyTwice, oneWaiterIsForgotten
        case locksTheRecord, dropsItsLock, writesAfterItsLoss, removesAfterItsLoss
        case forgetsAfterAnError, staysLockedAfterAnError, wrapsErrors
        case loadWaits, writesInPlace, waitsForEver, isBusyAndRuns, blocksThreads, losesWhatIsCancelled
        case waitsOnWhenCancelled, printsSecrets
        case staysLockedAfterACancellation, keepsWaitersOutAfterARemoval, keepsWaitersOutAfterAnError
        case staysLockedAfterATimeOut, staysLockedAfterACancelledWait
        case loadStopsAtAnUpdate, updateFailsBesideALoad, cancellationWaitsForTheHolder
    }

    private struct WrappedError: Error {}

    private let bug: Bug?
    private let disk: SharedDisk
    private let mutex: AsyncMutex
    private let waitLimit: TimeInterval
    private let memory = Locked<CredentialRecord?>(nil)
    /// How many loads are running.
    private let loads = Locked(0)
    /// How many updates wait or are inside.
    private let updates = Locked(0)
    /// Whether somebody who has left is the next in the queue: nobody gives back what comes to that place.
    private let hasDeadPlace = Locked(false)

    init(_ fixture: StoreFixture, bug: Bug?) {
        self.bug = bug
        waitLimit = bug == .waitsForEver ? 3600 : fixture.waitLimit
        let mutex = AsyncMutex(waitLimit: waitLimit, clock: SystemClock(), timedOut: CredentialStoreError.busy)
        disk = SharedDisk.named(fixture.name, mutex: mutex)
        self.mutex = bug == .locksItsOpeningOnly ? mutex : disk.mutex
    }

    var description: String {
        bug == .printsSecrets ? "a store of \(record?.credential.refreshToken ?? "nothing")" : "a store"
    }

    private var hasWaiters: Bool { updates.withLock { $0 } > 1 }

    private var record: CredentialRecord? { disk.stored.withLock { $0.record } }

    func load() async throws -> CredentialRecord? {
        if bug == .loadWaits {
            leave(try await enter())
        }
        if bug == .remembersWhatItRead, let record = memory.withLock({ $0 }) { return record }
        let record = record
        memory.withLock { $0 = record }
        if bug == .loadStopsAtAnUpdate || bug == .updateFailsBesideALoad {
            loads.withLock { $0 += 1 }
            defer { loads.withLock { $0 -= 1 } }
            // Longer than an update takes: nearly each load meets one.
            for _ in 0..<1000 { await Task.yield() }
            if bug == .loadStopsAtAnUpdate, record != self.record {
                await unsafe withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            }
        }
        return record
    }

    func update(_ body: CredentialUpdate) async throws -> CredentialRecord? {
        let early = record
        defer { memory.withLock { $0 = nil } }
        let hold: Hold
        do {
            hold = try await enter()
        } catch CredentialStoreError.busy where bug == .isBusyAndRuns {
            _ = try await body(early)
            throw CredentialStoreError.busy
        }
        var staysLocked = false
        defer { if !staysLocked { leave(hold) } }
        let old = bug == .readsBeforeTheLock ? early : record
        let version = disk.stored.withLock { $0.version }
        do {
            var change = try await body(old)
            if bug == .updateFailsBesideALoad, loads.withLock({ $0 > 0 }) { throw CredentialStoreError.busy }
            if bug == .runsTheBodyTwice { change = try await body(old) }
            if bug == .losesWhatIsCancelled { try Task.checkCancellation() }
            let isNewer = disk.stored.withLock { $0.version != version }
            let writes = bug == .writesAfterItsLoss || bug == .removesAfterItsLoss && change == .remove
            if hold.isLost, isNewer, !writes { throw CredentialStoreError.superseded }
            await write(change)
            staysLocked =
                bug == .staysLockedAfterACancellation && Task.isCancelled
                || bug == .keepsWaitersOutAfterARemoval && change == .remove && hasWaiters
        } catch {
            if bug == .forgetsAfterAnError { await write(.remove) }
            staysLocked = bug == .staysLockedAfterAnError || bug == .keepsWaitersOutAfterAnError && hasWaiters
            throw bug == .wrapsErrors ? WrappedError() : error
        }
        return bug == .returnsTheOldRecord ? old : record
    }

    // MARK: Exclusion

    private func enter() async throws -> Hold {
        let count = updates.withLock { updates in
            updates += 1
            return updates
        }
        let isPassing = bug == .locksTheRecord || bug == .dropsItsLock
        let mutex = isPassing ? disk.passingMutex.withLock { $0 } : mutex
        switch bug {
        case .noExclusion: break
        case .oneWaiterIsForgotten where count == 4:
            await unsafe withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        case .blocksThreads: try waitOnThread()
        case .waitsOnWhenCancelled: try await Task.detached { _ = try await mutex.lock() }.value
        case .cancellationWaitsForTheHolder:
            _ = try await withTaskCancellationHandler {
                try await mutex.lock()
            } onCancel: {
                disk.inside.wait()
            }
        default:
            do { try await mutex.lock() } catch {
                let isCancelled = error is CancellationError
                if bug == (isCancelled ? .staysLockedAfterACancelledWait : .staysLockedAfterATimeOut) {
                    hasDeadPlace.withLock { $0 = true }
                }
                throw error
            }
        }
        let hold = Hold(mutex)
        disk.inside.enter()
        disk.holds.withLock { $0.append(hold) }
        return hold
    }

    private func waitOnThread() throws {
        let hasEnded = DispatchSemaphore(value: 0)
        let outcome = Locked<Result<Void, any Error>>(.success(()))
        Task.detached { [mutex] in
            do { try await mutex.lock() } catch { outcome.withLock { $0 = .failure(error) } }
            hasEnded.signal()
        }
        hasEnded.wait()
        try outcome.withLock { $0 }.get()
    }

    private func leave(_ hold: Hold) {
        updates.withLock { $0 -= 1 }
        disk.holds.withLock { $0.removeAll { $0 === hold } }
        disk.inside.leave()
        if bug == .dropsItsLock { replacePassingMutex() }
        if !hasDeadPlace.withLock({ $0 }) { hold.end() }
    }

    private func replacePassingMutex() {
        disk.passingMutex.withLock {
            $0 = AsyncMutex(waitLimit: waitLimit, clock: SystemClock(), timedOut: CredentialStoreError.busy)
        }
    }

    // MARK: Writing

    private func write(_ change: CredentialChange) async {
        if case .replace(let new) = change, bug == .writesInPlace {
            disk.stored.withLock { stored in
                let half = stored.credential.map {
                    Credential(accessToken: new.accessToken, refreshToken: $0.refreshToken)
                }
                stored = StoredRecord(version: stored.version, credential: half)
            }
            // Longer than everything else that an update does: nearly each look meets half of a record.
            for _ in 0..<1000 { await Task.yield() }
        }
        disk.stored.withLock { stored in
            let wasRemoved = stored.version > 0 && stored.credential == nil
            var (version, credential) = (stored.version, stored.credential)
            switch change {
            case .keep:
                if bug == .countsWhatIsKept { version += 1 }
            case .replace(let new):
                if bug == .storesNothing || bug == .removalIsForGood && wasRemoved { return }
                credential = bug == .losesMembers ? Credential(refreshToken: new.refreshToken) : new
                if bug == .losesTheKey { credential = new.copiedByHand }
                version += bug == .countsByTwo ? 2 : 1
                if bug == .locksTheRecord { replacePassingMutex() }
            case .remove:
                if bug == .comesBackAfterRemoval { return }
                credential = nil
                if bug != .removalKeepsTheVersion { version += 1 }
                if bug == .deletesTheVersion { version = 0 }
            }
            stored = StoredRecord(version: version, credential: credential)
        }
    }
}

extension Credential {
    /// What a store keeps that writes down the members that it knows.
    fileprivate var copiedByHand: Credential {
        Credential(
            accessToken: accessToken,
            refreshToken: refreshToken,
            scope: scope,
            obtained: obtained,
            otherMembers: otherMembers,
            subject: subject
        )
    }
}
