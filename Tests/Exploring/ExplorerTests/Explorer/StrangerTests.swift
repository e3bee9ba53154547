import InterleavingExplorer
import TestSupport
import Testing

/// Actors as they are written elsewhere, each with the bug that it is known for, and mended.
///
/// Together they use what such actors use: two actors, child tasks, plain tasks, continuations, cancellation, time.
@Suite("In actors of all kinds", .eightAtATime, .serialized, .timeLimit(.minutes(10)))
struct StrangerTests {
    struct Subject: Sendable, CustomTestStringConvertible {
        let name: String
        /// Whether the actor starts tasks for itself, so that no search is complete.
        let hidesStarts: Bool
        let scenario: @Sendable (_ isMended: Bool) -> Scenario

        var testDescription: String { name }

        init(
            _ name: String,
            hidesStarts: Bool = false,
            _ setUp: @escaping @Sendable (ScenarioRun, _ isMended: Bool) -> Void
        ) {
            self.name = name
            self.hidesStarts = hidesStarts
            scenario = { isMended in Scenario(name) { setUp($0, isMended) } }
        }
    }

    static let subjects = [
        Subject("an image cache that downloads twice", hidesStarts: true) { run, isMended in
            let cache = ImageCache(isMended: isMended) { await run.pause("image") }
            for name in ["list", "detail"] { run.operation(name) { await cache.image() } }
            run.invariant("one download") { await cache.downloads == 1 }
        },
        Subject("a rate limiter that counts after its await") { run, isMended in
            let limiter = RateLimiter(limit: 1, isMended: isMended) { await run.pause("log") }
            for name in ["first", "second"] { run.operation(name) { await limiter.admit() } }
            run.invariant("one is admitted") { await limiter.admitted <= 1 }
        },
        Subject("a search whose earlier results come later") { run, isMended in
            let search = Search(isMended: isMended) { await run.pause("results for \($0)") }
            run.operation("types") {
                async let first: Void = search.query("s")
                await search.query("sw")
                await first
            }
            run.invariant("shows the last query") { await search.shown == search.last }
        },
        Subject("a transfer that an auditor sees half done") { run, isMended in
            let (from, to) = (Purse(100), Purse(0))
            let bank = Bank()
            run.operation("transfer") {
                if isMended { await bank.enter() }
                await from.add(-30)
                await to.add(30)
                if isMended { await bank.leave() }
            }
            let audit = run.operation("audit") {
                if isMended { await bank.enter() }
                let sum = await to.amount + from.amount
                if isMended { await bank.leave() }
                return sum
            }
            run.invariant("nothing is lost") { audit.value == 100 }
        },
        Subject("a semaphore that loses the permit of a cancelled waiter") { run, isMended in
            let semaphore = AsyncSemaphore(isMended: isMended)
            run.operation("holder") {
                try await semaphore.wait()
                await run.pause("work")
                await semaphore.signal()
            }
            let other = run.operation("cancelled") {
                guard (try? await semaphore.wait()) != nil else { return }
                await semaphore.signal()
            }
            run.step(cancelling: other)
            run.invariant("the permit is back") { await semaphore.permits == 1 }
        },
        Subject("a channel with room for one who waits") { run, isMended in
            let channel = Mailbox(isMended: isMended)
            for name in ["first", "second"] { run.operation(name) { await channel.next() } }
            run.operation("sender") {
                await channel.send(1)
                await channel.send(2)
            }
        },
        Subject("a list that appends a page twice") { run, isMended in
            let list = PagedList(isMended: isMended) { await run.pause("page") }
            for name in ["scroll", "pull"] { run.operation(name) { await list.loadMore() } }
            run.invariant("no row twice") { await Set(list.rows).count == list.rows.count }
        },
        Subject("a latch that is looked at before it is waited for") { run, isMended in
            let latch = Latch(isMended: isMended)
            run.operation("waits") { await latch.wait() }
            run.operation("counts down") { await latch.countDown() }
        },
        Subject("two locks that are taken in two orders") { run, isMended in
            let (a, b) = (Bank(), Bank())
            run.operation("first") {
                await a.enter()
                await b.enter()
                await b.leave()
                await a.leave()
            }
            run.operation("second") {
                await (isMended ? a : b).enter()
                await (isMended ? b : a).enter()
                await (isMended ? b : a).leave()
                await (isMended ? a : b).leave()
            }
        },
        Subject("a version that is not looked at again") { run, isMended in
            let document = Document(isMended: isMended)
            for name in ["left", "right"] { run.operation(name) { await document.edit { await run.pause("merge") } } }
            run.invariant("both edits are there") { await document.edits == 2 }
        },
        Subject("an alarm that is raised twice") { run, isMended in
            let alarm = Alarm(isMended: isMended) { await run.pause("siren") }
            run.operation("sensors") {
                await withTaskGroup { group in
                    for _ in 1...2 { group.addTask { await alarm.report() } }
                }
            }
            run.invariant("raised once") { await alarm.raised == 1 }
        },
        Subject("a listener that is told after it has gone") { run, isMended in
            let hub = Hub(isMended: isMended)
            run.operation("publish") { await hub.publish { await run.pause("delivery") } }
            run.operation("leave") { await hub.leave() }
            run.invariant("silence after leaving") { await !hub.wasToldLate }
        },
        Subject("a time-out that overwrites an answer") { run, isMended in
            let request = Request(isMended: isMended)
            run.operation("answer") {
                await run.pause("server")
                await request.finish("answer")
            }
            run.operation("time-out") {
                try? await run.clock.sleep(for: .seconds(1))
                await request.finish("time-out")
            }
            run.invariant("one end") { await request.ends == 1 }
        },
        Subject("a search whose cancelled task shows after it has looked") { run, isMended in
            let field = SearchField(isMended: isMended) { await run.pause("server") }
            run.operation("types") {
                await field.type("s")
                await run.pause("next key")
                await field.type("sw")
                await field.settled()
            }
            run.invariant("shows nothing stale") { await !field.hasShownStale }
        },
        Subject("a save in a plain task that an older one undoes", hidesStarts: true) { run, isMended in
            let draft = Draft(isMended: isMended) { await run.pause("disk") }
            run.operation("writer") {
                await draft.change("a")
                await draft.change("b")
                await draft.saved()
            }
            run.invariant("the last change is on disk") { await draft.disk == "b" }
        },
    ]

    @Test("the bug is found, and shown again", arguments: subjects)
    func finds(_ subject: Subject) async throws {
        let scenario = subject.scenario(false)
        var explorer = Explorer()
        // Nothing comes from outside.
        explorer.patience = .zero
        let report = await explorer.explore(scenario)
        let failure = try #require(report.failure, "\(report)")
        #expect([.brokenInvariant, .lostWaiter].contains(failure.kind), "\(failure)")
        // As it is read in the report, by an explorer that knows nothing of the search.
        let schedule = try #require(Schedule(parsing: "\(failure.schedule)"))
        for reductions in [Reductions.all, .sleepSets, .none] {
            explorer.reductions = reductions
            let replay = await explorer.replay(schedule, of: scenario)
            #expect(replay.failure?.message == failure.message)
        }
    }

    @Test("the mended one holds under every schedule", arguments: subjects)
    func holds(_ subject: Subject) async {
        let report = await Explorer().explore(subject.scenario(true))
        #expect(report.holds, "\(report)")
        #expect(report.isComplete == !subject.hidesStarts, "\(report)")
    }
}

private actor ImageCache {
    private(set) var downloads = 0
    private var isThere = false
    private var flight: Task<Void, Never>?
    private let isMended: Bool
    private let download: @Sendable () async -> Void

    init(isMended: Bool, download: @escaping @Sendable () async -> Void) {
        self.isMended = isMended
        self.download = download
    }

    func image() async {
        if isThere { return }
        if isMended, let flight { return await flight.value }
        let flight = Task { await fetch() }
        self.flight = flight
        await flight.value
    }

    private func fetch() async {
        downloads += 1
        await download()
        isThere = true
    }
}

/// A newer query cancels the task of the older one, which looks whether it is cancelled before it shows its results.
private actor SearchField {
    private(set) var hasShownStale = false
    private var query = ""
    private var latest: Task<Void, Never>?
    private let isMended: Bool
    private let server: @Sendable () async -> Void

    init(isMended: Bool, server: @escaping @Sendable () async -> Void) {
        self.isMended = isMended
        self.server = server
    }

    func type(_ text: String) {
        latest?.cancel()
        query = text
        latest = Task.detached { [server] in
            await server()
            if Task.isCancelled { return }
            await self.show(text)
        }
    }

    func settled() async {
        await latest?.value
    }

    private func show(_ text: String) {
        if isMended, Task.isCancelled { return }
        if text != query { hasShownStale = true }
    }
}

private actor RateLimiter {
    private(set) var admitted = 0
    private let limit: Int
    private let isMended: Bool
    private let log: @Sendable () async -> Void

    init(limit: Int, isMended: Bool, log: @escaping @Sendable () async -> Void) {
        self.limit = limit
        self.isMended = isMended
        self.log = log
    }

    func admit() async {
        guard admitted < limit else { return }
        if isMended { admitted += 1 }
        await log()
        if !isMended { admitted += 1 }
    }
}

private actor Search {
    private(set) var last = ""
    private(set) var shown = ""
    private let isMended: Bool
    private let ask: @Sendable (String) async -> Void

    init(isMended: Bool, ask: @escaping @Sendable (String) async -> Void) {
        self.isMended = isMended
        self.ask = ask
    }

    func query(_ text: String) async {
        last = text
        await ask(text)
        guard !isMended || last == text else { return }
        shown = text
    }
}

private actor Purse {
    private(set) var amount: Int

    init(_ amount: Int) {
        self.amount = amount
    }

    func add(_ more: Int) {
        amount += more
    }
}

/// One is inside, the others wait in line.
private actor Bank {
    private var isBusy = false
    private var line: [CheckedContinuation<Void, Never>] = []

    func enter() async {
        guard isBusy else {
            isBusy = true
            return
        }
        await withCheckedContinuation { line.append($0) }
    }

    func leave() {
        if line.isEmpty { isBusy = false } else { line.removeFirst().resume() }
    }
}

private actor AsyncSemaphore {
    private(set) var permits = 1
    private var waiters: [(id: Int, continuation: CheckedContinuation<Void, any Error>)] = []
    private var lastID = 0
    private let isMended: Bool

    init(isMended: Bool) {
        self.isMended = isMended
    }

    func wait() async throws {
        guard permits == 0 else {
            permits -= 1
            return
        }
        lastID += 1
        let id = lastID
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                // Cancelled before: nobody will take it out of the line any more.
                if isMended, Task.isCancelled { return continuation.resume(throwing: CancellationError()) }
                waiters.append((id, continuation))
            }
        } onCancel: {
            Task { await self.cancel(id) }
        }
        // Whoever was given the permit may be cancelled by now, and goes away with it.
        if !isMended { try Task.checkCancellation() }
    }

    func signal() {
        if waiters.isEmpty { permits += 1 } else { waiters.removeFirst().continuation.resume() }
    }

    private func cancel(_ id: Int) {
        guard let index = waiters.firstIndex(where: { $0.id == id }) else { return }
        waiters.remove(at: index).continuation.resume(throwing: CancellationError())
    }
}

private actor Mailbox {
    private var letters: [Int] = []
    private var waiters: [CheckedContinuation<Int, Never>] = []
    private let isMended: Bool

    init(isMended: Bool) {
        self.isMended = isMended
    }

    func next() async -> Int {
        if !letters.isEmpty { return letters.removeFirst() }
        return await withCheckedContinuation { (continuation: CheckedContinuation<Int, Never>) in
            if !isMended, let first = waiters.first {
                // Whoever waited before is overwritten, and waits for ever.
                waiters = [continuation]
                forgotten.append(first)
            } else {
                waiters.append(continuation)
            }
        }
    }

    /// Only so that the runtime does not complain of a continuation that was dropped.
    private var forgotten: [CheckedContinuation<Int, Never>] = []

    func send(_ letter: Int) {
        if waiters.isEmpty { letters.append(letter) } else { waiters.removeFirst().resume(returning: letter) }
    }
}

private actor PagedList {
    private(set) var rows: [Int] = []
    private var isLoading = false
    private let isMended: Bool
    private let fetch: @Sendable () async -> Void

    init(isMended: Bool, fetch: @escaping @Sendable () async -> Void) {
        self.isMended = isMended
        self.fetch = fetch
    }

    func loadMore() async {
        if isMended, isLoading { return }
        isLoading = true
        let start = rows.count
        await fetch()
        rows += [start, start + 1]
        isLoading = false
    }
}

private actor Latch {
    private var count = 1
    private var waiter: CheckedContinuation<Void, Never>?
    private let isMended: Bool

    init(isMended: Bool) {
        self.isMended = isMended
    }

    private var isOpen: Bool { count == 0 }

    nonisolated func wait() async {
        if isMended { return await park(looking: true) }
        guard await !isOpen else { return }
        await park(looking: false)
    }

    private func park(looking: Bool) async {
        if looking, isOpen { return }
        await withCheckedContinuation { waiter = $0 }
    }

    func countDown() {
        count -= 1
        waiter?.resume()
        waiter = nil
    }
}

private actor Document {
    private(set) var edits = 0
    private var version = 0
    private let isMended: Bool

    init(isMended: Bool) {
        self.isMended = isMended
    }

    func edit(merging: @Sendable () async -> Void) async {
        while true {
            let (base, seen) = (edits, version)
            await merging()
            guard !isMended || version == seen else { continue }
            edits = base + 1
            version += 1
            return
        }
    }
}

private actor Alarm {
    private(set) var raised = 0
    private var isRaised = false
    private let isMended: Bool
    private let siren: @Sendable () async -> Void

    init(isMended: Bool, siren: @escaping @Sendable () async -> Void) {
        self.isMended = isMended
        self.siren = siren
    }

    func report() async {
        guard !isRaised else { return }
        if isMended { isRaised = true }
        await siren()
        raised += 1
        isRaised = true
    }
}

private actor Hub {
    private(set) var wasToldLate = false
    private var hasListener = true
    private let isMended: Bool

    init(isMended: Bool) {
        self.isMended = isMended
    }

    func publish(delivering: @Sendable () async -> Void) async {
        guard hasListener else { return }
        await delivering()
        guard !isMended || hasListener else { return }
        wasToldLate = !hasListener
    }

    func leave() {
        hasListener = false
    }
}

private actor Request {
    private(set) var ends = 0
    private let isMended: Bool

    init(isMended: Bool) {
        self.isMended = isMended
    }

    func finish(_ how: String) {
        guard !isMended || ends == 0 else { return }
        ends += 1
    }
}

private actor Draft {
    private(set) var disk = ""
    private var text = ""
    private var saving: Task<Void, Never>?
    private let isMended: Bool
    private let write: @Sendable () async -> Void

    init(isMended: Bool, write: @escaping @Sendable () async -> Void) {
        self.isMended = isMended
        self.write = write
    }

    func change(_ text: String) {
        self.text = text
        let before = isMended ? saving : nil
        saving = Task {
            await before?.value
            await save(text)
        }
    }

    func saved() async {
        await saving?.value
    }

    private func save(_ text: String) async {
        await write()
        disk = text
    }
}
