import InterleavingExplorer

@available(Executors, *)
enum CallBack {
    private static let title = "A session calls a store, which calls the session back"

    static let exhibit = Exhibit(
        name: "call-back",
        title: title,
        story: """
            The session asks the store to save it, and the store asks the session for its contents: A calls B, and B \
            calls A. An actor takes the call from B while its own call waits, so both calls end. Two serial queues \
            that call each other with `sync` never end, since each queue is closed until its own call returns. Re- \
            entrancy has a price, which the other exhibits show: after the await, the state of A may have changed.
            """,
        invariants: ["both sessions are saved"],
        versions: [
            Version(
                name: "serial-queues",
                summary: "lets nobody in until its own call returns, as sync does",
                code: Code("Door", in: "CallBack"),
                fault: .breaks("lost waiter", repair: "call-back actors"),
                scenario: scenario(isClosedDuringCalls: true)
            ),
            Version(
                name: "actors",
                summary: "two plain actors",
                code: Code("Session", in: "CallBack"),
                listings: [Listing(article: .raceConditions, name: "section 6: A calls B, and B calls A back")],
                scenario: scenario(isClosedDuringCalls: false)
            ),
        ]
    )

    private static func scenario(isClosedDuringCalls: Bool) -> Scenario {
        Scenario(title) { run in
            let store = Store(isClosed: isClosedDuringCalls)
            let sessions = ["first", "second"].map { Session(name: $0, isClosed: isClosedDuringCalls) }
            for session in sessions {
                run.operation(session.name) { await session.save(in: store) }
            }
            run.invariant("both sessions are saved") { await store.saved.sorted() == ["first", "second"] }
        }
    }
}

private actor Session {
    nonisolated let name: String
    private let door: Door?

    init(name: String, isClosed: Bool) {
        self.name = name
        door = isClosed ? Door() : nil
    }

    func save(in store: Store) async {
        await door?.enter()
        note("calls the store")
        await store.save(self)
        await door?.leave()
    }

    func contents() async -> String {
        note("is called back")
        await door?.enter()
        defer { note("answers") }
        await door?.leave()
        return name
    }
}

private actor Store {
    private(set) var saved: [String] = []
    private let door: Door?

    init(isClosed: Bool) {
        door = isClosed ? Door() : nil
    }

    func save(_ session: Session) async {
        await door?.enter()
        let contents = await session.contents()
        saved.append(contents)
        await door?.leave()
    }
}

/// A serial queue, as far as it matters here: a caller that enters is alone until it leaves.
private actor Door {
    private var isOccupied = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    func enter() async {
        if isOccupied {
            await withCheckedContinuation { waiters.append($0) }
        }
        isOccupied = true
    }

    func leave() {
        if waiters.isEmpty {
            isOccupied = false
        } else {
            waiters.removeFirst().resume()
        }
    }
}
