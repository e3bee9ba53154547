import Foundation
import InterleavingExplorer

@available(Executors, *)
enum WorkOutside {
    private static let title = "Two callers, and an actor whose methods are all synchronous"
    private static let image = URL(filePath: "/a.png")

    static let exhibit = Exhibit(
        name: "work-outside",
        title: title,
        story: """
            An actor whose methods never await cannot be interrupted. But if its callers read, work and store in \
            separate calls, the gap is between the calls. The read must be a claim: one synchronous step that tells \
            one caller to work and the others to wait. The state machine of this package works in this way.
            """,
        invariants: ["the work is done once", "both have the result"],
        versions: [
            Version(
                name: "store-apart",
                summary: "an actor with read and write only; a free function downloads in between",
                code: Code("fetchImage", in: "WorkOutside"),
                listings: [Listing(article: .raceConditions, name: "fix 4: the store apart, with a free function")],
                fault: .breaks("the work is done once", repair: "work-outside claim"),
                scenario: scenario(ImageStore.init) { try await fetchImage(url: image, store: $0, download: $1) }
            ),
            Version(
                name: "claim",
                summary: "one step claims the work, or waits, or has the result",
                code: Code("fetchClaimed", in: "WorkOutside"),
                scenario: scenario(ClaimedStore.init) { try await fetchClaimed(url: image, store: $0, download: $1) }
            ),
        ]
    )

    private static func scenario<Store: Actor>(
        _ make: @escaping @Sendable () -> Store,
        fetch: @escaping @Sendable (Store, @escaping Download) async throws -> Data
    ) -> Scenario {
        Scenario(title) { run in
            let store = make()
            let callers = ["first", "second"].map { name in
                run.operation(name) {
                    try await fetch(store) { _ in
                        run.effect("works")
                        await run.pause("work is done")
                        return Data([1])
                    }
                }
            }
            run.invariant("the work is done once") { run.effects == ["works"] }
            run.invariant("both have the result") { callers.allSatisfy { $0.value == Data([1]) } }
        }
    }
}

private actor ImageStore {
    private var store: [URL: Data] = [:]

    func read(_ url: URL) -> Data? { store[url] }

    func write(_ url: URL, _ data: Data) { store[url] = data }
}

/// The actor has no await, and the gap is between its calls.
private func fetchImage(url: URL, store: ImageStore, download: Download) async throws -> Data {
    if let hit = await store.read(url) { return hit }
    note("finds nothing")
    let data = try await download(url)
    await store.write(url, data)
    return data
}

/// From the claim to the waiter's place in the line there is no suspension.
private actor ClaimedStore {
    private var store: [URL: Data] = [:]
    private var waiters: [URL: [CheckedContinuation<Data?, any Error>]] = [:]

    /// The picture, at once or when it comes; `nil` for the caller that must download it.
    func readOrClaim(_ url: URL) async throws -> Data? {
        if let hit = store[url] { return hit }
        guard waiters[url] != nil else {
            waiters[url] = []
            return nil
        }
        return try await withCheckedThrowingContinuation { waiters[url]?.append($0) }
    }

    func settle(_ url: URL, _ result: Result<Data?, any Error>) {
        store[url] = try? result.get()
        for waiter in waiters.removeValue(forKey: url) ?? [] { waiter.resume(with: result) }
    }
}

private func fetchClaimed(url: URL, store: ClaimedStore, download: Download) async throws -> Data {
    if let data = try await store.readOrClaim(url) { return data }
    do {
        let data = try await download(url)
        await store.settle(url, .success(data))
        return data
    } catch {
        await store.settle(url, .failure(error))
        throw error
    }
}
