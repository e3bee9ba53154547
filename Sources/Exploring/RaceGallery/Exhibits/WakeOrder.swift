import InterleavingExplorer

/// The order in which the waiters of one load go on.
@available(Executors, *)
enum WakeOrder {
    private static let title = "Three callers wait for one load, and are to be served as they came"

    static let exhibit = Exhibit(
        name: "wake-order",
        title: title,
        story: """
            Many say that the waiters of a shared task wake in the order in which they came. Nothing promises that \
            order, and on this runtime the last waiter wakes first. Resuming continuations in order is not enough: \
            the resumed tasks are ready at the same time, and the scheduler chooses. Two designs keep the order: one \
            task that calls all handlers, and waiters that each resume the next one.
            """,
        invariants: ["served as they came"],
        versions: [
            .faulty("shared-task", breaks: "served as they came", "awaits the task's value", scenario(.sharedTask)),
            .wrongFix(
                "continuations",
                breaks: "served as they came",
                "resumes continuations in order, all at once",
                scenario(.continuations)
            ),
            .fix("handlers", "the load calls handlers in order", scenario(.handlers)),
            .fix("baton", "each waiter resumes the next when it is done", scenario(.baton)),
        ]
    )

    private static func scenario(_ style: Counter.Style) -> Scenario {
        Scenario(title) { run in
            let counter = Counter(style) { await run.pause("load is over") }
            for name in ["first", "second", "third"] {
                run.operation(name) { await counter.serve(name) }
            }
            run.invariant("served as they came") { await counter.served == counter.came }
        }
    }
}

@available(Executors, *)
private actor Counter {
    enum Style: Sendable {
        case sharedTask
        case continuations
        case handlers
        case baton
    }

    private(set) var came: [String] = []
    private(set) var served: [String] = []
    private var task: Task<Void, Never>?
    private var waiters: [(name: String, continuation: CheckedContinuation<Void, Never>)] = []
    private let style: Style
    private let load: @Sendable () async -> Void

    init(_ style: Style, load: @escaping @Sendable () async -> Void) {
        self.style = style
        self.load = load
    }

    func serve(_ name: String) async {
        came.append(name)
        note("comes, number \(came.count)")
        let task = task ?? start()
        guard style != .sharedTask else {
            await task.value
            return finish(name)
        }
        // A caller that comes after the load does not wait.
        guard !isOver else { return finish(name) }
        await withCheckedContinuation { waiters.append((name, $0)) }
        switch style {
        case .handlers:
            break
        case .sharedTask, .continuations:
            finish(name)
        case .baton:
            finish(name)
            passBaton()
        }
    }

    private var isOver = false

    private func start() -> Task<Void, Never> {
        let task = Task {
            await load()
            switch style {
            case .sharedTask:
                break
            case .continuations, .handlers:
                isOver = true
                for (name, continuation) in waiters {
                    if style == .handlers {
                        finish(name)
                    }
                    continuation.resume()
                }
            case .baton:
                passBaton()
            }
        }
        self.task = task
        return task
    }

    private func passBaton() {
        guard !waiters.isEmpty else {
            isOver = true
            return
        }
        waiters.removeFirst().continuation.resume()
    }

    private func finish(_ name: String) {
        served.append(name)
        note("is served, number \(served.count)")
    }
}
