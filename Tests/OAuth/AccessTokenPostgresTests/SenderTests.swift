#if Postgres
import AccessTokenContract
import AccessTokenCore
import AccessTokenSynchronization
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth
@testable import AccessTokenPostgres

/// What a process makes of the note of whoever was going to send, at a real server.
@Suite("Notes in the rows of PostgreSQL", .takesTurns, .needsPostgres, .endsHangs)
struct SenderTests {
    private let database: TestDatabase
    private let user = "user"

    init() async throws { database = try await TestDatabase() }

    private func stores(_ takeOverDelay: TimeInterval = 15) -> PostgresCredentialStores {
        PostgresCredentialStores(database.connectionString, connections: 2, takeOverDelay: takeOverDelay)
    }

    private func note(_ number: Int = 1, presence: Int64? = nil) -> SentNote {
        var note = SentNote(sender: 9, number: number, count: 1, hasRival: false, sent: .now, patience: 600)
        note.presence = presence
        return note
    }

    private var credential: Credential { Credential(refreshToken: "user/1") }

    /// Writes a note, as a load does that is then not going to send.
    private func write(_ note: SentNote, to stores: PostgresCredentialStores) async throws {
        _ = try await stores.update(user) { record in record == nil ? .replace(credential) : .keep }
        _ = try await stores.update(user) { record in
            guard record?.credential.sentNote?.isSame(as: note) != true else { return .keep }
            return .replace(credential.noting(note))
        }
    }

    private func presence(in stores: PostgresCredentialStores) async throws -> Int64? {
        try await stores.load(user)?.credential.sentNote?.presence
    }

    @Test func `a new note names the process that writes it, and keeps that name when others write`() async throws {
        let (first, second) = (stores(), stores())
        try await write(note(), to: first)
        #expect(try await presence(in: second) == first.number.value)
        _ = try await second.update(user) { record in record.map { .replace($0.credential.of("subject")) } ?? .keep }
        #expect(try await presence(in: second) == first.number.value)
        try await write(note(2), to: second)
        #expect(try await presence(in: first) == second.number.value)
    }

    /// The old process was killed in its exchange, perhaps a moment before its credential was taken over from its store.
    @Test func `a note that comes with a credential from another store names whom it named there`() async throws {
        let (stores, number) = (stores(), Int64(1) << 20)
        let copied = note(presence: number)
        _ = try await stores.update(user) { record in record == nil ? .replace(credential.noting(copied)) : .keep }
        #expect(try await presence(in: stores) == number)
        _ = try await stores.update(user) { record in
            #expect(record?.credential.sentNote?.isSame(as: copied) == true)
            #expect(record?.credential.sentNote?.isOver == false)
            return .keep
        }
    }

    @Test func `a note of this process in which nobody sends any more is not waited for`() async throws {
        let stores = stores()
        let server = StrictServer { _ in }
        _ = server.signIn(user)
        try await write(note(), to: stores)
        let loader = OAuthLoader(server.exchange(deadline: 5), store: stores.store(for: user))
        #expect(try await loader.load(replacing: nil).value == "A/user/2")
    }

    @Test func `who gives up withdraws its own note, and no other one`() async throws {
        let stores = stores()
        try await write(note(2), to: stores)
        stores.withdraw(note(1), of: user)
        stores.withdraw(note(2), of: "other")
        // Longer than the first attempt takes.
        try await Task.sleep(for: .seconds(2))
        #expect(try await stores.load(user)?.credential.sentNote?.number == 2)
        stores.withdraw(note(2), of: user)
        let end = ContinuousClock.now + .seconds(20)
        while try await stores.load(user)?.credential.sentNote != nil {
            try #require(ContinuousClock.now < end, "the note is still there")
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    @Test func `who has written its note stays inside, and goes on with the note`() async throws {
        let (stores, other) = (stores(), database.stores(waitLimit: 0.05))
        let seen = Locked<[Bool]>([])
        _ = try await stores.update(user) { _ in .replace(credential) }
        _ = try await stores.update(user) { record in
            seen.withLock { $0.append(record?.credential.sentNote?.isSame(as: note()) == true) }
            await #expect(throws: CredentialStoreError.busy) { try await other.update(user) { _ in .keep } }
            return .replace(credential.noting(record?.credential.sentNote == nil ? note() : nil))
        }
        #expect(seen.withLock { $0 } == [false, true])
        _ = try await other.update(user) { _ in .keep }
    }

    @Test func `each entry of a process has a number of its own, which grows`() async throws {
        let stores = stores()
        let seen = Locked<[Int64]>([])
        for _ in 1...3 {
            _ = try await stores.update(user) { _ in
                let rows = try await database.run("SELECT holder::text FROM access_token_credentials")
                let holder = (rows.first?.first ?? nil).flatMap { Int64(String(decoding: $0, as: UTF8.self)) }
                seen.withLock { $0.append(holder ?? 0) }
                return .keep
            }
        }
        #expect(seen.withLock { $0 } == (1...3).map { stores.number.value | $0 })
        let held = try await database.run("SELECT 1 FROM access_token_credentials WHERE holder IS NOT NULL")
        #expect(held.isEmpty, "an update that keeps the record leaves the row as well")
    }

    @Test(arguments: [(0, 3), (3.5, 3.5), (-1, 3), (.nan, .infinity)] as [(TimeInterval, TimeInterval)])
    func `the take-over delay is what was asked for, and never shorter than a look`(
        asked: TimeInterval,
        delay: TimeInterval
    ) {
        #expect(stores(asked).store(for: user).takeOverDelay == delay)
    }
}
#endif
