import AccessTokenAdapters
import AccessTokenSynchronization
import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

private let soakSeconds = ProcessInfo.processInfo.environment["SOAK_SECONDS"].flatMap { Int($0) } ?? 0

/// A long run of both kinds of session at a server that fails in every way of the catalogue; `.ci/deep soak` takes two
/// minutes, and `SOAK_SECONDS` as long as it says.
@Suite(
    "A long run at a server that fails in every way",
    .takesTurns,
    .enabled(if: soakSeconds > 0, ".ci/deep soak runs it"),
    .timeLimit(.minutes(600))
)
struct SoakTests {
    private static let callers = 8

    /// A token endpoint and a resource that rotate strictly, and fail at random.
    private final class Server: Sendable {
        struct State {
            var generation = 0
            /// Those that were spent by an exchange whose reply reached the client.
            var answered: Set<String> = []
            var accessIssued: [String: Date] = [:]
            var sentAgain: [String] = []
            var exchanges = 0
            var failures = 0
        }

        let state = Locked(State())
        let isOver = Locked(false)

        /// Rows whose replies bring no tokens of their own, end no session, have none wait for the app, and do not take
        /// seconds.
        private static let faults = HostileServer.catalogue.filter { row in
            switch row.exchange {
            case .token, .rescued, .signIn, .notUnderstood, .unreadableHead, .timedOut, .tooLong: false
            default: true
            }
        }

        func answer(_ connection: ScriptedConnection, _ request: ReceivedRequest) {
            if Int.random(in: 0..<10) < 3, let fault = Self.faults.randomElement() {
                state.withLock { $0.failures += 1 }
                // Another resource's redirect or refusal is the caller's, and not an error of this run.
                return fault.answer(connection) { self.isOver.withLock { $0 } }
            }
            guard request.line.contains("/token") else { return answerResource(connection, request) }
            guard let field = request.body.split(separator: "&").first(where: { $0.hasPrefix("refresh_token=") }) else {
                return connection.reply(400, #"{"error":"invalid_request"}"#)
            }
            let sent = String(field.dropFirst("refresh_token=".count))
            let isLost = Int.random(in: 0..<10) == 0
            let number = state.withLock { state -> Int in
                state.exchanges += 1
                if state.answered.contains(sent) { state.sentAgain.append(sent) }
                // An exchange whose reply was lost is repeated as in a period of grace.
                if sent == "RT\(state.generation)" { state.generation += 1 }
                state.accessIssued["A\(state.generation)"] = .now
                if !isLost { state.answered.insert(sent) }
                return state.generation
            }
            if !isLost { connection.reply(200, tokens("A\(number)", "RT\(number)", lifetime: 3600)) }
        }

        /// An access token is good for 200 ms.
        private func answerResource(_ connection: ScriptedConnection, _ request: ReceivedRequest) {
            let token = request.fields["authorization"]?.dropFirst("Bearer ".count) ?? ""
            let issued = state.withLock { $0.accessIssued[String(token)] }
            let isGood = issued.map { Date.now.timeIntervalSince($0) < 0.2 } ?? false
            connection.reply(isGood ? 200 : 401, "")
        }
    }

    @Test func `loses no caller, sends no answered refresh token again, and does not grow`() async throws {
        let server = Server()
        try await withServer(keepsRequests: false, server.answer) { scripted in
            let endpoint = TokenEndpoint(try scripted.url, authentication: .none(clientID: "app"), deadline: 5)
            let store = MemoryCredentialStore(Credential(refreshToken: "RT0"))
            let loader = RetryingLoader(OAuthLoader(endpoint: endpoint, store: store), firstDelay: 0.01)
            let sessions: [any TestedSession] = [
                SessionKind.async.session(AsyncAccessTokenService(loader: loader), origins: [try scripted.url]),
                SessionKind.callback.session(AsyncAccessTokenService(loader: loader), origins: [try scripted.url]),
            ]
            let request = URLRequest(url: try scripted.resource)
            let end = Date.now.addingTimeInterval(TimeInterval(soakSeconds))
            let findings = Findings()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<Self.callers {
                    group.addTask {
                        while Date.now < end {
                            do {
                                _ = try await sessions[number % 2].data(for: request)
                                findings.answers.withLock { $0.replies += 1 }
                            } catch {
                                findings.answers.withLock { $0.errors += 1 }
                            }
                        }
                    }
                }
                group.addTask {
                    while Date.now < end {
                        try await Task.sleep(for: .seconds(1))
                        findings.usages.withLock { $0.append(Usage.now) }
                    }
                }
                try await group.waitForAll()
            }
            server.isOver.withLock { $0 = true }
            let seen = server.state.withLock { $0 }
            print(
                "soak: \(findings.answers.withLock { $0 }), \(seen.exchanges) exchanges, \(seen.failures) failures, \(findings.usages.withLock { $0.last }.map { "\($0)" } ?? "")"
            )
            #expect(seen.sentAgain.isEmpty)
            // An access token lives for 200 ms.
            #expect(seen.exchanges > soakSeconds, "the session stands still")
            #expect(findings.answers.withLock { $0.replies } > 0)
            #expect(try await store.refreshToken != nil)
            let usages = findings.usages.withLock { $0 }
            // The first third is for warming up; the highest of the last third shows what grew meanwhile.
            guard usages.count >= 30 else { return }
            let (early, late) = (usages.prefix(usages.count / 3), usages.suffix(usages.count / 3))
            for measure in [\Usage.megabytes, \Usage.threads, \Usage.descriptors] as [KeyPath<Usage, Int> & Sendable] {
                let (before, after) = (
                    early.map { $0[keyPath: measure] }.max() ?? 0, late.map { $0[keyPath: measure] }.max() ?? 0
                )
                #expect(after <= before * 5 / 4 + 20, "\(measure) grew from \(before) to \(after)")
            }
        }
    }

    private final class Findings: Sendable {
        let answers = Locked((replies: 0, errors: 0))
        let usages = Locked<[Usage]>([])
    }

    /// What this process uses; nothing where there is no `/proc`.
    private struct Usage: Sendable {
        var megabytes = 0
        var threads = 0
        var descriptors = 0

        static var now: Usage {
            let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
            func number(_ name: String) -> Int {
                let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
                return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
            }
            let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
            return Usage(megabytes: number("VmRSS") / 1024, threads: number("Threads"), descriptors: descriptors)
        }
    }
}
