import InterleavingExplorer

/// The asynchronous work is moved out of the actor: no method of it awaits.
@available(Executors, *)
enum WorkOutside {
    private static let title = "Two callers, and an actor whose methods are all synchronous"

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
                "store-apart",
                "an actor with read and write only; a free function downloads in between",
                of: Listing(.raceConditions, "fix 4: the store apart, with a free function"),
                breaks: "the work is done once",
                repair: "work-outside claim",
                scenario { await fetchPicture(from: $0, download: $1) }
            ),
            Version(
                "late-waiter",
                "claims in one step, but begins to wait in another",
                breaks: "lost waiter",
                repair: "work-outside claim",
                scenario { results, work in
                    switch await results.claim() {
                    case .use(let result):
                        return result
                    case .work:
                        let result = await work()
                        await results.store(result)
                        return result
                    case .wait:
                        note("is told to wait")
                        return await results.wait()
                    }
                }
            ),
            Version(
                "claim",
                "one step claims the work, or waits, or has the result",
                scenario { results, work in
                    if let result = await results.claimOrWait() {
                        return result
                    }
                    let result = await work()
                    await results.store(result)
                    return result
                }
            ),
        ]
    )

    private static func scenario(
        _ retrieve: @escaping @Sendable (Results, @escaping @Sendable () async -> Int) async -> Int
    ) -> Scenario {
        Scenario(title) { run in
            let results = Results()
            let callers = ["first", "second"].map { name in
                run.operation(name) {
                    await retrieve(results) {
                        run.effect("works")
                        await run.pause("work is done")
                        return 1
                    }
                }
            }
            run.invariant("the work is done once") { run.effects == ["works"] }
            run.invariant("both have the result") { callers.allSatisfy { $0.value == 1 } }
        }
    }
}

/// Looks, downloads, and stores: the actor has no await, and the gap is between its calls.
@available(Executors, *)
private func fetchPicture(from store: Results, download: @Sendable () async -> Int) async -> Int {
    if let hit = await store.result { return hit }
    note("finds nothing")
    let picture = await download()
    await store.store(picture)
    return picture
}

@available(Executors, *)
private actor Results {
    /// What a caller is to do.
    enum Claim: Sendable {
        case use(Int)
        case work
        case wait
    }

    private(set) var result: Int?
    private var isClaimed = false
    private var waiters: [CheckedContinuation<Int, Never>] = []

    func claim() -> Claim {
        if let result {
            return .use(result)
        }
        defer { isClaimed = true }
        return isClaimed ? .wait : .work
    }

    /// Wrong on its own: the result may have come since the claim.
    func wait() async -> Int {
        await withCheckedContinuation { waiters.append($0) }
    }

    /// The result, at once or when it comes; `nil` for the caller that must do the work.
    ///
    /// From the claim to the waiter's place in the line there is no suspension.
    func claimOrWait() async -> Int? {
        switch claim() {
        case .use(let result): result
        case .work: nil
        case .wait: await wait()
        }
    }

    func store(_ result: Int) {
        self.result = result
        note("stores the result")
        for waiter in waiters {
            waiter.resume(returning: result)
        }
        waiters = []
    }
}
