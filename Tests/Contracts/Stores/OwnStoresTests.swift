import AccessTokenSynchronization
import CredentialStoreContract
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("The contract for stores", .takesTurnsToWait, .endsHangs)
struct OwnStoresTests {
    private static let memory = StoreSubject("the store in memory", features: .waitLimit, promises: ["X2"]) { fixture in
        MemoryCredentialStore(waitLimit: fixture.waitLimit)
    }

    private static let folder = StoreSubject(
        "the store in a folder",
        features: [.openings, .waitLimit],
        promises: ["X2"]
    ) { fixture in
        suspensions.store(in: fixture.folder, waitLimit: fixture.waitLimit)
    } loseExclusion: { _ in
        suspensions.suspend()
    }

    private static let suspensions = Suspensions()

    /// The system that is about to suspend an app whose store is locked: the only way in which a folder's lock is lost.
    private final class Suspensions: Sendable {
        private let expiries = Locked<[Int: @Sendable () -> Void]>([:])
        private let count = Locked(0)

        func store(in folder: URL, waitLimit: TimeInterval) -> FileCredentialStore {
            let activity = BackgroundActivity { [self] onExpiry in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                expiries.withLock { $0[number] = onExpiry }
                return { [self] in expiries.withLock { $0[number] = nil } }
            }
            let folder = CredentialFolder(folder)
            let mutex = FolderMutex(folder, waitLimit: waitLimit, clock: SystemClock(), activity: activity)
            return FileCredentialStore(seal: nil, mutex: mutex)
        }

        func suspend() {
            for expire in expiries.withLock({ Array($0.values) }) { expire() }
        }
    }

    @Test(arguments: [(memory, ["K2", "E2", "L1"]), (folder, [])])
    func `is kept, and no more is skipped than that memory has one opening`(subject: StoreSubject, skipped: [ClauseID])
        async
    {
        let report = await StoreContract.verify(subject, onProgress: nil)
        #expect(report.isKept, "\(report)")
        #expect(report.skippedIDs == skipped)
    }
}
