import Foundation
import InterleavingExplorer

@available(Executors, *)
enum DataCache {
    static let exhibit = Exhibit(
        name: "data-cache",
        title: SharedLoad.title,
        story: """
            Three callers miss at the same time. Without an entry for the download in progress, each of them fetches. \
            With an entry, they share one task. The caller that started the task makes the entry loaded, or removes \
            it. A caller that joined may wake before that, try again, and join the task that has failed already.
            """,
        invariants: SharedLoad.invariants,
        versions: [
            Version(
                name: "fetch-per-caller",
                summary: "fetches when it finds no data: three requests for three reads",
                listing: Listing(article: .strategies, name: "problem 2: the cache without a task"),
                fault: .breaks(SharedLoad.oneAtATime, repair: "data-cache fetch-clears"),
                scenario: scenario(callers: ["first", "second", "third"]) { FetchPerCaller(fetchFromServer: $0) }
            ),
            Version(
                name: "coalesce",
                summary: "inProgress or loaded; the caller that started the task settles the entry",
                listing: Listing(article: .strategies, name: "strategy 5: coalesce"),
                fault: .breaks(SharedLoad.served, repair: "data-cache fetch-clears"),
                scenario: scenario { Coalesce(fetchFromServer: $0) }
            ),
            Version(
                name: "fetch-clears",
                summary: "inProgress or loaded; the task settles its entry with its last step",
                scenario: scenario { FetchClears(fetchFromServer: $0) }
            ),
        ]
    )

    private static let key = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))

    private static func scenario(
        callers: [String] = ["first", "second"],
        _ make: @escaping @Sendable (@escaping Fetch) -> any ReadCache
    ) -> Scenario {
        SharedLoad.scenario(callers: callers) { load in
            make { _ in Data([UInt8(try await load())]) }
        } ask: { cache in
            guard let first = await cache.read(key)?.first else { throw LoadFailed() }
            return Int(first)
        }
    }
}

typealias Fetch = @Sendable (UUID) async throws -> Data

protocol ReadCache: Actor {
    func read(_ key: UUID) async -> Data?
}

actor FetchPerCaller: ReadCache {
    private var cache: [UUID: Data] = [:]
    private let fetchFromServer: Fetch

    init(fetchFromServer: @escaping Fetch) {
        self.fetchFromServer = fetchFromServer
    }

    func read(_ key: UUID) async -> Data? {
        if let data = cache[key] { return data }
        guard let data = try? await fetchFromServer(key) else { return nil }
        cache[key] = data
        return data
    }
}

private enum CacheEntry {
    case inProgress(Task<Data, any Error>)
    case loaded(Data)
}

/// The caller that started a fetch settles its entry, when it wakes.
actor Coalesce: ReadCache {
    private var cache: [UUID: CacheEntry] = [:]
    private let fetchFromServer: Fetch

    init(fetchFromServer: @escaping Fetch) {
        self.fetchFromServer = fetchFromServer
    }

    func read(_ key: UUID) async -> Data? {
        switch cache[key] {
        case .loaded(let data): return data
        case .inProgress(let task): return try? await task.value
        case nil: break
        }
        let task = Task { try await fetchFromServer(key) }
        cache[key] = .inProgress(task)
        let data = try? await task.value
        cache[key] = data.map { .loaded($0) }
        return data
    }
}

/// The fetch settles its own entry: a caller that wakes finds the entry settled.
actor FetchClears: ReadCache {
    private var cache: [UUID: CacheEntry] = [:]
    private let fetchFromServer: Fetch

    init(fetchFromServer: @escaping Fetch) {
        self.fetchFromServer = fetchFromServer
    }

    func read(_ key: UUID) async -> Data? {
        switch cache[key] {
        case .loaded(let data): return data
        case .inProgress(let task): return try? await task.value
        case nil: break
        }
        let task = Task {
            do {
                let data = try await fetchFromServer(key)
                cache[key] = .loaded(data)
                return data
            } catch {
                cache[key] = nil
                throw error
            }
        }
        cache[key] = .inProgress(task)
        return try? await task.value
    }
}
