import AccessTokenContract
import AccessTokenSynchronization
import CredentialStoreContract
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("The store in a folder", .takesTurns, .endsHangs)
struct FileCredentialStoreTests {
    private let first = Credential(refreshToken: "RT1 s3cret")
    private let second = Credential(refreshToken: "RT2 s3cret")
    private let place = TemporaryFolder()

    private func store(_ seal: CredentialSeal? = nil, waitLimit: TimeInterval = 60) -> FileCredentialStore {
        FileCredentialStore(folder: place.session, seal: seal, waitLimit: waitLimit)
    }

    /// A store with the first credential in it.
    private func filledStore() async throws -> FileCredentialStore {
        let store = store()
        try await store.update { _ in .replace(first) }
        return store
    }

    // MARK: What lasts

    @Test func `versions go on over a folder that somebody has deleted`() async throws {
        let before = try #require(try await filledStore().version)
        try place.remove()
        // So long as no process rotates a token more than once in a second, for as long as the session lives.
        #expect(try #require(try await store().update { _ in .replace(first) }?.version) >= before)
    }

    @Test func `versions go on over a reset`() async throws {
        let store = try await filledStore()
        let version = try #require(try await store.version)
        try await store.reset()
        #expect(try await store.update { _ in .replace(second) }?.version == version + 2)
    }

    @Test func `folder and files are the user's alone, also with folders above that do not exist`() async throws {
        let deep = place.session.appending(path: "a/b/c/d/e/f/g/h/i/j/")
        try await FileCredentialStore(folder: deep).update { _ in .replace(first) }
        #expect(try place.mode("session/a/b/c/d/e/f/g/h/i/j") == 0o700)
        _ = try await filledStore()
        #expect(try place.mode("session") == 0o700)
        #expect(try place.mode("session/credential.json") == 0o600)
        #expect(try place.names == ["a", "credential.json"])
    }

    @Test func `no child process inherits what is open`() throws {
        let file = try FileDescriptor.open("/", O_RDONLY)
        let flags = fcntl(file.number, F_GETFD)
        #expect(flags & FD_CLOEXEC != 0)
    }

    #if os(macOS) || os(Linux)
    /// In a process of its own: the mask is the whole process's.
    @Test func `a mask that takes rights from the owner as well makes nothing that cannot be used`() async throws {
        let store = try await filledStore()
        await #expect(processExitsWith: .success) { [path = place.session.path as String] in
            umask(0o777)
            for folder in [path, "\(path)/a/b"] {
                try await FileCredentialStore(folder: URL(filePath: folder)).update { _ in
                    .replace(Credential(refreshToken: "RT2"))
                }
            }
        }
        #expect(try place.mode("session/credential.json") == 0o600)
        #expect(try place.mode("session/a") == 0o700 && place.mode("session/a/b") == 0o700)
        #expect(try await store.refreshToken == "RT2")
    }
    #endif

    // MARK: What is refused

    /// The mode, or a symbolic link.
    @Test(arguments: [
        ("session", 0o750), ("session", 0o701), ("session/credential.json", 0o640), ("session/credential.json", 0o604),
        ("session", nil), ("session/credential.json", nil),
    ])
    func `what others have rights to is not touched, and a symbolic link is not followed`(
        _ name: String,
        _ mode: Int?
    ) async throws {
        let store = try await filledStore()
        if let mode { try place.setMode(name, mode) } else { try place.replaceByLink(name) }
        let error = await #expect(throws: CredentialStoreError.self) {
            try await store.update { _ in .replace(second) }
        }
        #expect(error?.isInsecure == true)
        #expect(error?.description.contains(mode == nil ? "symbolic link" : "chmod") == true)
        #expect(error?.place?.hasSuffix(name) == true)
        await #expect(throws: CredentialStoreError.self) { try await store.load() }
        guard mode != nil else { return }
        try place.setMode(name, name == "session" ? 0o700 : 0o600)
        #expect(try await store.credential == first)
    }

    /// With write permission there, others could put an earlier state of the folder in its place.
    @Test(arguments: [0o757, 0o777, 0o702])
    func `a folder in one to which others may write is refused, and the error says how to mend that`(
        mode: Int
    ) async throws {
        let store = try await filledStore()
        try place.setMode("", mode)
        for call in [{ _ = try await store.load() }, { try await store.update { _ in .keep } }] {
            let error = await #expect(throws: CredentialStoreError.self) { try await call() }
            #expect(error?.isInsecure == true)
            #expect(error?.place == place.url.path)
            #expect(error?.description.contains("chmod go-w") == true)
        }
        try place.setMode("", 0o755)
        #expect(try await store.credential == first)
    }

    /// `/tmp` has the sticky bit, and the group of a folder is often its owner's private one.
    @Test(arguments: [0o1777, 0o770, 0o2775])
    func `a folder is used in one where only its owner may rename it, or the process's group`(mode: Int) async throws {
        let store = try await filledStore()
        try place.setGroup("", getegid())
        try place.setMode("", mode)
        #expect(try await store.credential == first)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a folder to any group"))
    func `a folder is refused in one to which another group may write`() async throws {
        let store = try await filledStore()
        try place.setGroup("", 65_534)
        try place.setMode("", 0o770)
        let error = await #expect(throws: CredentialStoreError.self) { try await store.load() }
        #expect(error?.isInsecure == true)
        try place.setMode("", 0o750)
        #expect(try await store.credential == first)
    }

    @Test(
        .enabled(if: geteuid() == 0, "only root can give a file away"),
        arguments: ["session", "session/credential.json"]
    )
    func `what belongs to somebody else is not touched`(_ name: String) async throws {
        let store = try await filledStore()
        try place.giveAway(name)
        let error = await #expect(throws: CredentialStoreError.self) { try await store.load() }
        #expect(error?.isInsecure == true)
    }

    @Test func `a URL that is none of a folder is an error`() async throws {
        let url = try #require(URL(string: "https://example.org/session"))
        let error = await #expect(throws: CredentialStoreError.self) {
            try await FileCredentialStore(folder: url).load()
        }
        #expect(error?.place == "https://example.org/session")
    }

    @Test func `a file in the place of the folder is an error, and so is a folder in the place of the file`()
        async throws
    {
        try Data().write(to: place.session)
        await #expect(throws: CredentialStoreError.self) { try await store().update { _ in .keep } }
        try FileManager.default.removeItem(at: place.session)
        _ = try await filledStore()
        let record = place.path("session/credential.json")
        try FileManager.default.removeItem(atPath: record)
        try FileManager.default.createDirectory(atPath: record, withIntermediateDirectories: false)
        try place.setMode("session/credential.json", 0o700)
        let error = await #expect(throws: CredentialStoreError.self) { try await store().load() }
        #expect(error?.isUnreadable == true)
    }

    // MARK: What cannot be read

    @Test(arguments: [
        "", "{", "null", "s3cret", #"{"format":1,"version":3,"credential":{"refreshTo"#, #"{"format":3,"version":3}"#,
        #"{"format":1,"version":9223372036854775807}"#, #"{"format":1,"version":-1}"#,
        #"{"format":1,"version":3,"sealed":"AAAA"}"#, #"{"format":1,"version":3,"credential":"s3cret"}"#,
        #"{"format":3,"version":"3-a","credential":"s3cret"}"#, #"{"format":3,"revision":7}"#,
    ])
    func `a damaged file is an error that names it, and is left as it is`(_ text: String) async throws {
        let store = try await filledStore()
        let before = try #require(try await store.version)
        try place.write(text)
        for attempt in 0..<2 {
            let error = await #expect(throws: CredentialStoreError.self) {
                if attempt == 0 { _ = try await store.load() } else { try await store.update { _ in .replace(second) } }
            }
            #expect(error?.isUnreadable == true)
            #expect(error?.place == place.session.appending(path: "credential.json").path)
            let isNewer = error?.description.contains("which a later version of this package wrote")
            #expect(isNewer == text.contains(#""format":3"#))
            #expect(error.map { everythingShown(by: $0).contains("s3cret") } == false)
        }
        #expect(try place.text == text)
        try await store.reset()
        #expect(try await store.load() == nil)
        let record = try #require(try await store.update { _ in .replace(second) })
        #expect(record.credential == second && record.version >= before)
    }

    @Test(.thorough) func `a credential that is too long to be read again is not written`() async throws {
        let store = try await filledStore()
        let text = String(repeating: "A", count: CredentialFolder.longestRecord)
        let long = Credential(accessToken: AccessToken(value: text), refreshToken: "R")
        let error = await #expect(throws: CredentialStoreError.self) { try await store.update { _ in .replace(long) } }
        #expect(error?.place == place.session.appending(path: "credential.json").path)
        #expect(error?.description.contains("16 MiB") == true)
        #expect(try await store.credential == first)
        #expect(try place.names == ["credential.json"])
    }

    @Test func `a write that fails leaves no file behind`() async throws {
        let store = try await filledStore()
        let record = place.path("session/credential.json")
        let error = await #expect(throws: CredentialStoreError.self) {
            try await store.update { _ in
                // No file takes the place of a folder.
                try FileManager.default.removeItem(atPath: record)
                try FileManager.default.createDirectory(atPath: record, withIntermediateDirectories: false)
                return .replace(second)
            }
        }
        #expect(error?.place == record)
        #expect(try place.names == ["credential.json"])
    }

    @Test func `a sign-out needs no room on the disk`() async throws {
        let store = try await filledStore()
        // No file can be made under the name that a record has at first.
        let name = place.path("session/credential.new")
        try FileManager.default.createDirectory(atPath: name, withIntermediateDirectories: false)
        let error = await #expect(throws: CredentialStoreError.self) {
            try await store.update { _ in
                #expect(SavingObstacle.current != nil)
                return .replace(second)
            }
        }
        #expect(error?.place == name && error?.isTransient == false, "a person has to remove it")
        try await store.update { _ in .remove }
        #expect(try await store.load() == nil)
    }

    @Test func `room for what an exchange brings is set aside before it, and given back after it`() async throws {
        let store = try await filledStore()
        let session = place.session
        @Sendable func room(_ name: String) -> Int {
            var status = stat()
            guard unsafe stat(session.appending(path: name).path, &status) == 0 else { return 0 }
            return Int(status.st_blocks) * 512
        }
        let size = try Data(contentsOf: session.appending(path: "credential.json")).count
        let before = Locked(0)
        try await store.update { _ in
            #expect(SavingObstacle.current == nil)
            before.withLock { $0 = room("credential.new") }
            return .replace(second)
        }
        #expect(before.withLock { $0 } >= CredentialFolder.room + 2 * size)
        #expect(room("credential.json") < CredentialFolder.room)
        #expect(try await store.credential == second)
    }

    // MARK: What is sealed

    @Test(arguments: [nil, 0x5A] as [UInt8?], [TimeInterval.infinity, -.infinity, 1e300])
    func `a token that never expires is kept as it is`(_ key: UInt8?, seconds: TimeInterval) async throws {
        let token = AccessToken(value: "AT", expiration: Date(timeIntervalSinceReferenceDate: seconds))
        let seal: CredentialSeal? = key.map { .adding($0) }
        try await store(seal).update { _ in .replace(Credential(accessToken: token, refreshToken: "RT")) }
        #expect(try await store(seal).load()?.credential.accessToken == token)
    }

    @Test(arguments: [0x33, nil] as [UInt8?])
    func `a wrong key is an error, and signs nobody out`(_ key: UInt8?) async throws {
        let sealed = store(.adding(0x5A))
        try await sealed.update { _ in .replace(first) }
        #expect(try !place.text.contains("RT1"))
        let stranger = store(key.map { .adding($0) })
        let error = await #expect(throws: CredentialStoreError.self) { try await stranger.load() }
        #expect(error?.isUnreadable == true)
        for change in [CredentialChange.remove, .replace(second), .keep] {
            await #expect(throws: CredentialStoreError.self) { try await stranger.update { _ in change } }
        }
        #expect(try await sealed.load()?.credential == first)
    }

    @Test func `what was stored without a seal is read, and sealed with the next replacement`() async throws {
        _ = try await filledStore()
        let sealed = store(.adding(0x5A))
        #expect(try await sealed.credential == first)
        try await sealed.update { _ in .replace(second) }
        #expect(try !place.text.contains("RT2"))
        #expect(try await sealed.credential == second)
    }

    @Test func `what cannot be sealed is not written, and its error says nothing of it`() async throws {
        struct Talkative: Error { let data: Data }
        let store = store(
            CredentialSeal {
                throw Talkative(data: $0)
            } open: {
                $0
            }
        )
        let error = await #expect(throws: CredentialStoreError.self) { try await store.update { _ in .replace(first) } }
        #expect(error.map { everythingShown(by: $0) }?.contains("s3cret") == false)
        #expect(try await store.load() == nil)
    }

    // MARK: What happens under a body

    @Test func `a folder that is removed under a body is an error, and the next update finds what was there`()
        async throws
    {
        let store = try await filledStore()
        let version = try #require(try await store.version)
        let error = await #expect(throws: CredentialStoreError.self) {
            try await store.update { _ in
                try place.remove()
                return .replace(second)
            }
        }
        #expect(error?.isTransient == true)
        #expect(error?.place == place.session.path)
        #expect(try await store.load() == CredentialRecord(credential: first, version: version))
        let saved = try await store.update { record in record?.version == version ? .replace(second) : .keep }
        #expect(saved == CredentialRecord(credential: second, version: version + 1))
        #expect(try await self.store().load() == saved)
    }

    @Test func `what was in a folder that was removed under a body does not come back once another record was there`()
        async throws
    {
        let store = try await filledStore()
        await #expect(throws: CredentialStoreError.self) {
            try await store.update { _ in
                try place.remove()
                return .replace(Credential(refreshToken: "RT3"))
            }
        }
        let other = try await filledStore()
        try await other.update { _ in .replace(second) }
        #expect(try await store.update { _ in .keep }?.credential == second)
        try place.remove()
        #expect(try await store.load() == nil)
        #expect(try await store.update { _ in .keep } == nil)
    }

    @Test func `a folder that is moved away under a body is not written to, nor is the one in its place`() async throws
    {
        let store = try await filledStore()
        let error = await #expect(throws: CredentialStoreError.self) {
            try await store.update { _ in
                try FileManager.default.moveItem(atPath: place.path("session"), toPath: place.path("moved"))
                try await self.store().update { _ in .replace(second) }
                return .replace(Credential(refreshToken: "RT3"))
            }
        }
        #expect(error?.isTransient == true)
        #expect(try await store.credential == second)
        let moved = FileCredentialStore(folder: place.url.appending(path: "moved"))
        #expect(try await moved.credential == first)
    }

    @Test func `a lock on a folder that nobody uses any more lets nobody in`() async throws {
        let clock = ManualClock()
        let store = try await filledStore()
        let waiting = FileCredentialStore(folder: place.session, waitLimit: 60, clock: clock)
        let (isInside, mayLeave) = (Event(), Event())
        let (isInsideAgain, mayLeaveAgain) = (Event(), Event())
        let holder = Task {
            try await store.update { _ in
                isInside.happen()
                await mayLeave.wait()
                return .keep
            }
        }
        await isInside.wait()
        let hasEntered = Event()
        let waiter = Task {
            try await waiting.update { _ in
                hasEntered.happen()
                return .keep
            }
        }
        // It has the present folder open, and waits for its next attempt.
        await yieldUntil { clock.pendingTimers == 1 }
        try FileManager.default.moveItem(atPath: place.path("session"), toPath: place.path("moved"))
        let next = Task {
            try await self.store().update { _ in
                isInsideAgain.happen()
                await mayLeaveAgain.wait()
                return .replace(second)
            }
        }
        await isInsideAgain.wait()
        mayLeave.happen()
        _ = try await holder.value
        clock.advance(by: 1)
        await yieldUntil { clock.pendingTimers == 1 || hasEntered.hasHappened }
        #expect(!hasEntered.hasHappened)
        mayLeaveAgain.happen()
        _ = try await next.value
        clock.advance(by: 1)
        #expect(try await waiter.value?.credential == second)
    }

    @Test func `what a killed process has left is no obstacle, and does not stay`() async throws {
        let store = try await filledStore()
        try Data("half of a rec".utf8).write(to: place.session.appending(path: "credential.new"))
        try await store.update { _ in .replace(second) }
        #expect(try await store.credential == second)
        #expect(try place.names == ["credential.json"])
    }

    // MARK: With a loader

    @Test func `what the server issued while the folder was removed is saved, and not exchanged again`() async throws {
        let server = try RotatingAuthorizationServer { [place] event in
            if case .tokenRequested = event { try? place.remove() }
        }
        defer { server.stop() }
        let loader = OAuthLoader(endpoint: server.endpoint, store: store())
        try await loader.signIn(Credential(refreshToken: server.signIn().refreshToken))
        let token = try await loader.load(replacing: nil)
        #expect(try await store().credential?.accessToken == token)
        #expect(server.tally.tokenRequests == 1)
    }
}
