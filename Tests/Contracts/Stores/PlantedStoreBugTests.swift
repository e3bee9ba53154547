import CredentialStoreContract
import Dispatch
import TestSupport
import Testing

@Suite("Planted bugs are caught by their clauses, and break no others", .takesTurnsToWait, .endsHangs)
struct PlantedStoreBugTests {
    /// The bugs, each with all clauses that it breaks.
    static let bugs: [BuggyStore.Bug: [ClauseID]] = [
        .storesNothing: ["K1"], .losesMembers: ["K1"], .losesTheKey: ["K1"],
        .remembersWhatItRead: ["K2"],
        .comesBackAfterRemoval: ["K2", "K3", "V4", "L1"], .removalIsForGood: ["K5", "V3", "V4", "L1"],
        .returnsTheOldRecord: ["K3", "K4", "V2", "V3", "V4", "F1"],
        .countsByTwo: ["V1"], .countsWhatIsKept: ["K4", "V2"], .deletesTheVersion: ["V3", "V4", "L1"],
        .removalKeepsTheVersion: ["V4", "L1"], .writesAfterItsLoss: ["L1"], .removesAfterItsLoss: ["L1"],
        .locksTheRecord: ["E6"], .dropsItsLock: ["E6"],
        .noExclusion: ["E1", "E2", "E3", "E6", "W1", "W2", "X1", "X2"],
        .locksItsOpeningOnly: ["E2", "E3", "E6"], .readsBeforeTheLock: ["E3", "E6"], .runsTheBodyTwice: ["E4"],
        .oneWaiterIsForgotten: ["E5"], .forgetsAfterAnError: ["L1", "F1"], .staysLockedAfterAnError: ["F2"],
        .wrapsErrors: ["F3"], .loadWaits: ["R1"], .writesInPlace: ["R2"], .waitsForEver: ["W1"],
        .isBusyAndRuns: ["W2"], .blocksThreads: ["W3", "X2"], .losesWhatIsCancelled: ["X1"],
        .waitsOnWhenCancelled: ["X2"], .printsSecrets: ["H1"],
        .staysLockedAfterACancellation: ["E5"], .keepsWaitersOutAfterARemoval: ["E5"],
        .keepsWaitersOutAfterAnError: ["F2"],
        .staysLockedAfterATimeOut: ["W4"], .staysLockedAfterACancelledWait: ["X3"],
        .loadStopsAtAnUpdate: ["R2"], .updateFailsBesideALoad: ["R2"], .cancellationWaitsForTheHolder: ["X2", "X3"],
    ]

    private static func subject(_ bug: BuggyStore.Bug?) -> StoreSubject {
        StoreSubject("a small store", features: [.openings, .waitLimit], promises: ["X2"]) {
            BuggyStore($0, bug: bug)
        } loseExclusion: { fixture in
            SharedDisk.loseExclusion(fixture.name)
        }
    }

    @Test func `a small store without a bug keeps the contract`() async {
        let report = await StoreContract.verify(Self.subject(nil), onProgress: nil)
        #expect(report.isKept, "\(report)")
    }

    @Test(arguments: BuggyStore.Bug.allCases)
    func `in a small store`(_ bug: BuggyStore.Bug) async {
        let broken = Self.bugs[bug, default: []]
        let clauses = StoreContract.clauses.some(including: broken, toTry: bug.rawValue)
        let report = await StoreContract.verify(Self.subject(bug), clauses: clauses, timeLimit: 2, onProgress: nil)
        #expect(report.brokenIDs == broken && !broken.isEmpty, "\(bug): \(report)")
    }

    @Test func `a store whose update fails is let go of, and read no more`() async {
        let stores = DispatchGroup()
        let subject = StoreSubject("a small store", features: [.openings, .waitLimit]) {
            CountedStore(BuggyStore($0, bug: .updateFailsBesideALoad), among: stores)
        }
        let clauses = StoreContract.clauses.filter { ["K1", "R2"].contains($0.id) }
        let report = await StoreContract.verify(subject, clauses: clauses, timeLimit: 2, onProgress: nil)
        #expect(report.brokenIDs == ["R2"], "\(report)")
        await withCheckedContinuation { ended in stores.notify(queue: .global()) { ended.resume() } }
    }

    @Test func `every clause has a planted bug`() {
        let caught = Set(Self.bugs.values.joined())
        #expect(StoreContract.clauses.map(\.id).filter { !caught.contains($0) } == [])
    }

    @Test func `every id stands for one clause`() {
        let ids = StoreContract.clauses.map(\.id)
        #expect(Set(ids).count == ids.count)
    }

    @Test func `a promise of what is no convention is a mistake of the subject`() async throws {
        let subject = StoreSubject("promising", promises: ["K1"]) { _ in MemoryCredentialStore() }
        let report = await StoreContract.verify(subject, onProgress: nil)
        #expect(report.brokenIDs == ["K1"])
    }

    @Test func `a store that cannot be opened is a violation that says why`() async throws {
        let subject = StoreSubject("closed") { _ in throw CredentialStoreError.unavailable(at: "a host", "no route") }
        let report = await StoreContract.verify(subject, onProgress: nil)
        #expect(report.brokenIDs == ["K1"])
        #expect("\(report)".contains("no route"))
        #expect(report.notJudged.count == StoreContract.clauses.count - 1)
    }
}

/// A store that is in a group for as long as somebody holds it.
private final class CountedStore: CredentialStore {
    private let base: BuggyStore
    private let stores: DispatchGroup

    init(_ base: BuggyStore, among stores: DispatchGroup) {
        (self.base, self.stores) = (base, stores)
        stores.enter()
    }

    deinit { stores.leave() }

    func load() async throws -> CredentialRecord? { try await base.load() }
    func update(_ body: CredentialUpdate) async throws -> CredentialRecord? { try await base.update(body) }
}
