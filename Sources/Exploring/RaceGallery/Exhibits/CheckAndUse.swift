import InterleavingExplorer

@available(Executors, *)
enum CheckAndUse {
    private static let noTrap = "tokenTask! does not trap"
    private static let sameValue = "what was set before the await is there after it"

    static let exhibit = Exhibit(
        name: "check-and-use",
        title: "An await between an assignment and a use",
        story: """
            A method sets cachedToken to nil and awaits a request. Another call sets a token meanwhile, and the method \
            finds that token. The same gap decides whether `tokenTask!` is safe. Directly after the assignment it is: \
            nobody else enters the actor before the next suspension, and the task is read before that. With an await \
            in between, the load may have ended and set tokenTask to nil, and the program traps.
            """,
        invariants: [sameValue, noTrap],
        versions: [
            Version(
                name: "nil-then-await",
                summary: "sets cachedToken to nil, awaits, reads cachedToken",
                code: Code("refreshToken", in: "CheckAndUse"),
                listings: [Listing(article: .reentrancy, name: "re-entrancy: cachedToken is not nil any more")],
                fault: .breaks(sameValue, repair: "check-and-use local-copy"),
                scenario: refresh { await $0.refreshToken(callAuthenticationAPI: $1) }
            ),
            Version(
                name: "local-copy",
                summary: "reads its own constant after the await",
                code: Code("refreshTokenWithCopy", in: "CheckAndUse"),
                scenario: refresh { await $0.refreshTokenWithCopy(callAuthenticationAPI: $1) }
            ),
            Version(
                name: "await-before-unwrap",
                summary: "sets tokenTask, awaits a log, uses tokenTask!",
                code: Code("tokenAfterLog", in: "CheckAndUse"),
                fault: .breaks(noTrap, repair: "check-and-use unwraps-at-once"),
                scenario: unwrap { try await $0.tokenAfterLog(log: $1) }
            ),
            Version(
                name: "unwraps-at-once",
                summary: "uses tokenTask! in the step that sets it",
                code: Code("UnwrappingService", in: "CheckAndUse"),
                listings: [Listing(article: .reentrancy, name: "why tokenTask! does not crash")],
                scenario: unwrap { service, _ in try await service.token() }
            ),
        ]
    )

    private static func refresh(
        _ refresh: @escaping @Sendable (TokenHolder, @escaping @Sendable () async -> Void) async -> String?
    ) -> Scenario {
        Scenario("A refresh, and a token that is set meanwhile") { run in
            let holder = TokenHolder()
            let found = run.operation("refresh") { await refresh(holder) { await run.pause("answer") } }
            run.operation("other") { await holder.setCachedToken(to: "a token") }
            run.invariant(sameValue) { found.value == .some(nil) }
        }
    }

    private static func unwrap(
        _ ask: @escaping @Sendable (UnwrappingService, @escaping @Sendable () async -> Void) async throws -> Int
    ) -> Scenario {
        Scenario("Two callers that use tokenTask!") { run in
            let service = UnwrappingService { await run.pause("token") }
            let callers = ["first", "second"].map { name in
                run.operation(name, mayThrow: true) { try await ask(service) { await run.pause("logged") } }
            }
            run.invariant(noTrap) { callers.allSatisfy { $0.error == nil } }
        }
    }
}

private actor TokenHolder {
    private var cachedToken: String? = "an old token"

    /// Returns what it finds in `cachedToken` behind the await.
    func refreshToken(callAuthenticationAPI: @Sendable () async -> Void) async -> String? {
        cachedToken = nil
        note("cachedToken is nil")
        await callAuthenticationAPI()
        note("cachedToken is \(cachedToken ?? "nil")")
        return cachedToken
    }

    func refreshTokenWithCopy(callAuthenticationAPI: @Sendable () async -> Void) async -> String? {
        let token: String? = nil
        cachedToken = token
        await callAuthenticationAPI()
        return token
    }

    func setCachedToken(to token: String) {
        cachedToken = token
        note("sets \(token)")
    }
}

private actor UnwrappingService {
    /// Thrown where `tokenTask!` would end the program.
    struct WouldTrap: Error {}

    private var tokenTask: Task<Int, Never>?
    private let load: @Sendable () async -> Void

    init(load: @escaping @Sendable () async -> Void) {
        self.load = load
    }

    func token() async throws -> Int {
        startIfNeeded()
        guard let task = tokenTask else { throw WouldTrap() }
        return await task.value
    }

    func tokenAfterLog(log: @Sendable () async -> Void) async throws -> Int {
        startIfNeeded()
        await log()
        guard let task = tokenTask else {
            note("tokenTask! traps")
            throw WouldTrap()
        }
        return await task.value
    }

    private func startIfNeeded() {
        guard tokenTask == nil else { return }
        tokenTask = Task {
            defer { tokenTask = nil }
            await load()
            return 1
        }
    }
}
