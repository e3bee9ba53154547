import AccessTokenSynchronization
import CredentialStoreContract
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

@testable import AccessTokenOAuth

/// The logic of the store, with a stand-in for the keychain, which only Apple platforms have.
@Suite("The store in the keychain", .takesTurns, .endsHangs)
struct KeychainCredentialStoreTests {
    private let first = Credential(refreshToken: "RT1 s3cret")
    private let second = Credential(refreshToken: "RT2 s3cret")
    private let place = TemporaryFolder()
    private let item = KeychainStandIn()

    /// An opening of the store, as another process has one.
    private func store() -> KeychainCredentialStore {
        KeychainCredentialStore(item, place: "keychain item session of test", seal: nil, mutex: mutex())
    }

    private func mutex(
        _ folder: URL? = nil,
        waitLimit: TimeInterval = 60,
        activity: BackgroundActivity = .system
    ) -> FolderMutex {
        let folder = CredentialFolder(folder ?? place.session)
        return FolderMutex(folder, waitLimit: waitLimit, clock: SystemClock(), activity: activity)
    }

    @Test func `items of one name in two access groups are two places, whose loaders share nothing`() {
        let stores = ["TEAM.one", "TEAM.two", nil].map { group in
            let place = KeychainCredentialStore.place(service: "test", account: "session", accessGroup: group)
            return KeychainCredentialStore(item, place: place, seal: nil, mutex: mutex())
        }
        let memories = stores.map { SharedLoaderMemory.of($0) }
        #expect(Set(memories.map { ObjectIdentifier($0) }).count == 3)
    }

    @Test func `keeps the contract of stores, and nothing is skipped`() async {
        let items = Locked<[String: KeychainStandIn]>([:])
        // What ends the lock of whoever is inside, as the system does to an app that it suspends.
        let expiry = Locked<(@Sendable () -> Void)?>(nil)
        let activity = BackgroundActivity { onExpiry in
            expiry.withLock { $0 = onExpiry }
            return {}
        }
        let subject = StoreSubject(
            "the store in the keychain",
            features: [.openings, .waitLimit],
            promises: ["X2"]
        ) { fixture in
            let item = items.withLock { items in
                items[fixture.name] = items[fixture.name] ?? KeychainStandIn()
                return items[fixture.name]
            }
            return KeychainCredentialStore(
                item ?? KeychainStandIn(),
                place: fixture.name,
                seal: nil,
                mutex: mutex(fixture.folder, waitLimit: fixture.waitLimit, activity: activity)
            )
        } loseExclusion: { _ in
            expiry.withLock { $0 }?()
        }
        let report = await StoreContract.verify(subject)
        #expect(report.isKept, "\(report)")
        #expect(!report.rows.contains { if case .skipped = $0.outcome { true } else { false } })
    }

    @Test(arguments: [
        (KeychainStatus.interactionNotAllowed, "not unlocked since it started"),
        (KeychainStatus.missingEntitlement, "entitlement"), (-25_291, ""),
    ])
    func `a keychain that refuses is an error that says why; no body is run, and nobody is signed out`(
        _ status: Int32,
        _ advice: String
    ) async throws {
        let store = store()
        try await store.update { _ in .replace(first) }
        item.refuse(with: status)
        let hasRun = Locked(false)
        let errors = [
            await #expect(throws: CredentialStoreError.self) { try await store.load() },
            await #expect(throws: CredentialStoreError.self) {
                try await store.update { _ in
                    hasRun.withLock { $0 = true }
                    return .remove
                }
            },
            await #expect(throws: CredentialStoreError.self) { try await store.reset() },
        ]
        for error in errors {
            #expect(error?.isTransient == (status != KeychainStatus.missingEntitlement))
            #expect(error?.description.contains("words for \(status) (\(status))") == true)
            #expect(advice.isEmpty || error?.description.contains(advice) == true)
        }
        #expect(!hasRun.withLock { $0 })
        item.refuse(with: nil)
        #expect(try await store.credential == first)
    }

    @Test func `what is not written is an error, and what was there stays`() async throws {
        try await store().update { _ in .replace(first) }
        let error = await #expect(throws: CredentialStoreError.self) {
            try await store().update { _ in
                item.refuse(with: -34_018)
                return .replace(second)
            }
        }
        #expect(error.map { everythingShown(by: $0).contains("s3cret") } == false)
        #expect(error?.description.contains("(-34018)") == true)
        item.refuse(with: nil)
        #expect(try await store().credential == first)
    }

    @Test func `a reset removes nothing that cannot be read at this moment, and versions go on over it`() async throws {
        try await store().update { _ in .replace(first) }
        item.refuse(with: KeychainStatus.interactionNotAllowed, onlyReading: true)
        await #expect(throws: CredentialStoreError.self) { try await store().reset() }
        item.refuse(with: nil)
        #expect(try await store().credential == first)
        let version = try #require(try await store().version)
        try await store().reset()
        #expect(try await store().update { _ in .replace(second) }?.version == version + 2)
    }

    @Test(arguments: ["", "s3cret", #"{"format":3,"version":3}"#])
    func `an item of somebody else is an error, and is left as it is until it is reset`(_ text: String) async throws {
        item.text = text
        let errors = [
            await #expect(throws: CredentialStoreError.self) { try await store().load() },
            await #expect(throws: CredentialStoreError.self) { try await store().update { _ in .replace(second) } },
        ]
        for error in errors {
            #expect(error?.isUnreadable == true)
            #expect(error?.place == "keychain item session of test")
        }
        #expect(item.text == text)
        try await store().reset()
        #expect(try await store().load() == nil)
        #expect(try await store().update { _ in .replace(second) }?.credential == second)
    }

    // MARK: A process that is about to be suspended

    /// Both stores have the lock of a folder, which a suspended app must not have.
    enum Kind: CaseIterable, Sendable {
        case keychain
        case folder
    }

    private func opening(_ kind: Kind, _ activity: BackgroundActivity) -> any CredentialStore {
        let mutex = mutex(waitLimit: 5, activity: activity)
        return switch kind {
        case .keychain: KeychainCredentialStore(item, place: "keychain item session of test", seal: nil, mutex: mutex)
        case .folder: FileCredentialStore(seal: nil, mutex: mutex)
        }
    }

    @Test(arguments: Kind.allCases)
    func `gives the lock up at once, and writes no more`(_ kind: Kind) async throws {
        let system = SuspendingSystem()
        let suspended = opening(kind, system.activity)
        let other = opening(kind, .system)
        try await other.update { _ in .replace(first) }
        await #expect(throws: CredentialStoreError.superseded) {
            try await suspended.update { _ in
                system.suspend()
                // Another process does not wait.
                try await other.update { _ in .replace(second) }
                return .replace(first)
            }
        }
        #expect(try await other.credential == second)
        // It runs again later.
        #expect(try await suspended.update { _ in .replace(first) }?.credential == first)
        #expect(system.running == 0)
    }

    @Test(arguments: Kind.allCases)
    func `saves what the server issued meanwhile, once it runs again`(_ kind: Kind) async throws {
        let system = SuspendingSystem()
        let server = try RotatingAuthorizationServer { event in
            if case .tokenRequested = event { system.suspend() }
        }
        defer { server.stop() }
        let loader = OAuthLoader(endpoint: server.endpoint, store: opening(kind, system.activity))
        try await loader.signIn(Credential(refreshToken: server.signIn().refreshToken))
        let token = try await loader.load(replacing: nil)
        #expect(try await opening(kind, .system).credential?.accessToken == token)
        #expect(server.tally.tokenRequests == 1)
    }

    @Test(arguments: Kind.allCases)
    func `is told of each lock that is held, and of its end`(_ kind: Kind) async throws {
        let system = SuspendingSystem()
        let store = opening(kind, system.activity)
        try await store.update { _ in
            #expect(system.running == 1)
            return .replace(first)
        }
        #expect(system.running == 0)
        struct Failure: Error {}
        await #expect(throws: Failure.self) { try await store.update { _ in throw Failure() } }
        #expect(system.running == 0)
        #expect(system.begun == 2)
    }
}

/// Stands for an item of a keychain: what the framework of Apple's platforms does, where it does not exist.
private final class KeychainStandIn: KeychainItem {
    private struct State {
        var data: Data?
        var refusal: Int32?
        var refusesWriting = false
    }

    private let state = Locked(State())

    var text: String? {
        get { state.withLock { $0.data.map { String(decoding: $0, as: UTF8.self) } } }
        set { state.withLock { $0.data = newValue.map { Data($0.utf8) } } }
    }

    /// Makes calls fail with this status from now on.
    func refuse(with status: Int32?, onlyReading: Bool = false) {
        state.withLock { state in
            state.refusal = status
            state.refusesWriting = !onlyReading
        }
    }

    func copy() -> (data: Data?, status: Int32) {
        state.withLock { state in
            if let refusal = state.refusal { return (nil, refusal) }
            return (state.data, state.data == nil ? KeychainStatus.itemNotFound : KeychainStatus.success)
        }
    }

    func add(_ data: Data) -> Int32 { write(data, isThere: false, otherwise: KeychainStatus.duplicateItem) }
    func update(_ data: Data) -> Int32 { write(data, isThere: true, otherwise: KeychainStatus.itemNotFound) }
    func words(for status: Int32) -> String { "words for \(status)" }

    private func write(_ data: Data, isThere: Bool, otherwise: Int32) -> Int32 {
        state.withLock { state in
            if let refusal = state.refusal, state.refusesWriting { return refusal }
            guard isThere == (state.data != nil) else { return otherwise }
            state.data = data
            return KeychainStatus.success
        }
    }
}

/// Stands for a system that suspends apps in the background.
private final class SuspendingSystem: Sendable {
    private struct State {
        var onExpiry: [Int: @Sendable () -> Void] = [:]
        var begun = 0
    }

    private let state = Locked(State())

    /// The activities that have not ended.
    var running: Int { state.withLock { $0.onExpiry.count } }
    var begun: Int { state.withLock { $0.begun } }

    var activity: BackgroundActivity {
        BackgroundActivity { onExpiry in
            let number = self.state.withLock { state in
                state.begun += 1
                state.onExpiry[state.begun] = onExpiry
                return state.begun
            }
            return { self.state.withLock { $0.onExpiry[number] = nil } }
        }
    }

    func suspend() {
        for onExpiry in state.withLock({ Array($0.onExpiry.values) }) { onExpiry() }
    }
}
