import AccessTokenCore
import AccessTokenOAuth
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

    let content = Locked(Content())
    let isLocked = Locked(false)

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
    private let attempts = Locked(0)

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
        while bug == .loadWaits, disk.isLocked.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
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
        var isFirst = true
        let end = ContinuousClock.now + .seconds(waitLimit)
        while !tryToEnter() {
            if bug == .oneWaiterIsForgotten, isFirst,
                attempts.withLock({
                    $0 += 1; return $0 == 3
                })
            {
                try await Task.sleep(for: .seconds(3600))
            }
            isFirst = false
            if bug != .waitsForEver, ContinuousClock.now >= end { throw CredentialStoreError.busy }
            switch bug {
            case .blocksThreads: blockTheThread()
            case .waitsOnWhenCancelled: try? await Task.detached { try await Task.sleep(for: .milliseconds(1)) }.value
            default: try await Task.sleep(for: .milliseconds(1))
            }
        }
    }

    private func blockTheThread() {
        Thread.sleep(forTimeInterval: 0.001)
    }

    private func tryToEnter() -> Bool {
        lock.isLocked.withLock { isLocked in
            defer { isLocked = true }
            return !isLocked
        }
    }

    private func leave() {
        lock.isLocked.withLock { $0 = false }
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
                try? await Task.sleep(for: .milliseconds(1))
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
