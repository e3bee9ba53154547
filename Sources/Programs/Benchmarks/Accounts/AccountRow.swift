import AccessTokenAsync
import AccessTokenOAuth
import AccessTokenSynchronization
import ConsoleSupport
import Foundation

/// What many accounts cost that all renew at once, by one row for each number of accounts.
///
/// These are figures of whole runs and not of calls. Only the seconds are compared: with those of the same requests by
/// `URLSession` alone.
struct AccountRow: Codable, Sendable {
    static let title = "accounts, all expired at once"
    /// Followed by accounts, callers and limit, it makes this program print one row as JSON.
    static let option = "--account-row"

    private static let header = [
        title, "callers", "limit a second", "served", "requests", "seconds", "alone", "slowest ms", "peak MB",
        "threads",
    ]

    let accounts: Int
    /// How many accounts have a caller at once.
    let callers: Int
    /// Requests that the server takes in a second; 0 is no limit.
    let limit: Int
    /// Those that got a token.
    let served: Int
    let requests: Int
    let seconds: Double
    /// What so many requests take by `URLSession` alone; `nil` at a server with a limit, and if few call at once.
    let secondsAlone: Double?
    /// Of the slowest load, from its turn at the endpoint until its token is in the store.
    let slowest: Double
    /// `nil` where the system does not tell.
    let memory: Int?
    let threads: Int?

    /// Whether each account was served, by how many requests, and at what cost.
    var targets: [(isMet: Bool, text: String)] {
        // A server with a limit refuses some requests before the client knows of the limit.
        let most = limit == 0 ? accounts : accounts * 12 / 10
        var targets = [
            (served == accounts, "all of \(accounts) are served: \(served)"),
            (requests <= most, "\(most) requests at most for \(accounts) accounts: \(requests)"),
        ]
        if let secondsAlone {
            let ratio = seconds / secondsAlone
            let text = "1.5 × URLSession alone at most for \(accounts) accounts: \(String(format: "%.2f", ratio))"
            targets.append((ratio <= 1.5, text))
        }
        guard accounts == 60_000 else { return targets }
        let milliseconds = Int((slowest * 1_000).rounded(.up))
        targets.append((milliseconds <= 130, "130 ms for the slowest load at most: \(milliseconds)"))
        // So much was measured with fifty callers. Callers that wait have memory of their own.
        if let memory, callers < accounts {
            targets.append((memory >> 20 <= 238, "238 MB for \(accounts) accounts at most: \(memory >> 20)"))
        }
        return targets
    }

    /// The cells of a line, made in small steps: the compiler takes 17 seconds for one literal of all of them.
    private var cells: [String] {
        func decimals(_ count: Int, _ number: Double) -> String { String(format: "%.\(count)f", number) }
        let none = "–"
        var cells = [accounts, callers].map(String.init)
        cells.append(limit == 0 ? none : String(limit))
        cells += [served, requests].map(String.init)
        cells.append(decimals(1, seconds))
        cells.append(secondsAlone.map { decimals(1, $0) } ?? none)
        cells.append(decimals(0, slowest * 1_000))
        cells += [memory.map { $0 >> 20 }, threads].map { $0.map(String.init) ?? none }
        return cells
    }

    static func text(of rows: [AccountRow]) -> String {
        let verdicts = rows.flatMap(\.targets).map { "\($0.isMet ? "met:   " : "MISSED:") \($0.text)" }
        let table = TextTable(header: header, rows: rows.map(\.cells)).text
        return ([table] + verdicts).joined(separator: "\n") + "\n"
    }

    /// The same row, measured by a process of its own: nothing that this process did before counts in its memory.
    static func inOwnProcess(_ accounts: Int, callers: Int? = nil, limit: Int = 0) throws -> AccountRow {
        let (process, output) = (Process(), Pipe())
        process.executableURL = Bundle.main.executableURL
        process.arguments = [option, "\(accounts)", "\(callers ?? accounts)", "\(limit)"]
        process.standardOutput = output
        try process.run()
        let row = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw NoRow() }
        return try JSONDecoder().decode(AccountRow.self, from: row)
    }

    private struct NoRow: Error, CustomStringConvertible {
        let description = "the process for a row of accounts failed; what it says stands above"
    }

    /// Has a service for each account, and a caller for each service.
    ///
    /// - Parameters:
    ///   - callers: how many of them call at once.
    ///   - server: a process of its own: neither its memory nor its threads count.
    static func run(_ accounts: Int, callers: Int, at server: AccountServer) async throws -> AccountRow {
        let endpoint = TokenEndpoint(server.url, authentication: .none(clientID: "benchmarks"), deadline: 3600)
        let exchange = TokenExchange(endpoint)
        let stores = (0..<accounts).map { TimedStore(refreshToken: "RT\($0)") }
        let policy = AccessTokenPolicy(loadDeadline: nil)
        let services = AccessTokenAccounts<Int, AsyncAccessTokenService>(idleLimit: 600) { account in
            let loader = OAuthLoader(exchange, store: stores[account])
            return AsyncAccessTokenService(loader: RetryingLoader(loader), policy: policy)
        }
        let requestsBefore = try await server.requests()
        let watch = Stopwatch()
        var (served, slowest, threads) = (0, 0.0, ProcessFigures.threads)
        await withTaskGroup(of: Double?.self) { group in
            func note(_ seconds: Double?) {
                guard let seconds else { return }
                (served, slowest) = (served + 1, max(slowest, seconds))
                if served.isMultiple(of: 100) { threads = max(threads ?? 0, ProcessFigures.threads ?? 0) }
            }
            for account in 0..<accounts {
                if account >= callers, let ended = await group.next() { note(ended) }
                group.addTask {
                    guard (try? await services.service(for: account).token()) != nil else { return nil }
                    return stores[account].seconds
                }
            }
            for await ended in group { note(ended) }
        }
        let (seconds, memory) = (watch.nanoseconds / 1e9, ProcessFigures.peakMemory)
        let requests = try await server.requests() - requestsBefore
        var secondsAlone: Double?
        if server.limit == 0, callers == accounts {
            secondsAlone = try await BareRequests.seconds(min(accounts, 10_000), at: server) * Double(accounts)
        }
        return AccountRow(
            accounts: accounts,
            callers: callers,
            limit: server.limit,
            served: served,
            requests: requests,
            seconds: seconds,
            secondsAlone: secondsAlone,
            slowest: slowest,
            memory: memory,
            threads: threads == 0 ? nil : threads
        )
    }
}

/// A store in memory that knows how long the longest update took.
///
/// A load enters it when it has its turn, and leaves it with the new credential. What comes after that is the caller's
/// wait for a thread, among as many callers as there are accounts.
private final class TimedStore: CredentialStore {
    private let base: MemoryCredentialStore
    private let longest = Locked(0.0)

    init(refreshToken: String) { base = MemoryCredentialStore(Credential(refreshToken: refreshToken)) }

    /// As that of the base: every sender of the refresh token is in this process.
    var takeOverDelay: TimeInterval { base.takeOverDelay }

    var seconds: Double { longest.withLock { $0 } }

    func load() async throws -> CredentialRecord? { try await base.load() }

    func update(_ body: CredentialUpdate) async throws -> CredentialRecord? {
        let watch = Stopwatch()
        defer { longest.withLock { $0 = max($0, watch.nanoseconds / 1e9) } }
        return try await base.update(body)
    }
}

/// What the system tells of this process.
private enum ProcessFigures {
    /// Bytes that were resident at most since the process began.
    static var peakMemory: Int? { status("VmHWM").map { $0 << 10 } }
    static var threads: Int? { status("Threads") }

    /// A number in `/proc/self/status`, which only Linux has.
    private static func status(_ name: String) -> Int? {
        let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = text?.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        return line.flatMap { $0.split { !$0.isNumber }.last }.flatMap { Int($0) }
    }
}
