import AccessTokenSynchronization
import Foundation
import OAuthFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A token endpoint on the loopback address in a process of its own, which this program starts: `benchmarks --serve`.
///
/// It answers each refresh token with a new pair, and any `GET` with how many requests there were. If it has a limit,
/// it answers those of a second that are beyond the limit 429 with `Retry-After`.
final class AccountServer: Sendable {
    private struct NoServer: Error, CustomStringConvertible {
        let description = "the server of the benchmark did not start"
    }

    let url: URL
    /// Requests that it takes in a second; 0 is no limit.
    let limit: Int
    private let stop: @Sendable () -> Void

    init(limit: Int = 0) throws {
        self.limit = limit
        let (process, output) = (Process(), Pipe())
        process.executableURL = Bundle.main.executableURL
        process.arguments = ["--serve", "\(limit)"]
        process.standardOutput = output
        // The server ends when its input does, also if this process is killed.
        process.standardInput = Pipe()
        try process.run()
        let port = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = UInt16(port.trimmingCharacters(in: .whitespacesAndNewlines)),
            let url = URL(string: "http://127.0.0.1:\(port)/token")
        else { throw NoServer() }
        self.url = url
        let running = Locked<Process?>(process)
        stop = { running.withLock { $0.take() }?.terminate() }
    }

    deinit { stop() }

    /// How many requests there were, the refused ones among them.
    func requests() async throws -> Int {
        let (data, _) = try await URLSession.shared.data(from: url)
        guard let count = Int(String(decoding: data, as: UTF8.self)) else { throw NoServer() }
        return count
    }

    /// Is the server, until its input ends.
    static func serve(limit: Int) throws {
        let counts = Locked(Counts())
        let server = try LoopbackHTTPServer(port: 0) { request, _ in
            guard request?.line.hasPrefix("POST") == true else {
                return HTTPResponse(status: 200, json: "\(counts.withLock { $0.requests })")
            }
            guard let number = counts.withLock({ $0.next(limit: limit) }) else {
                var refusal = HTTPResponse.empty(429)
                refusal.fields = ["Retry-After: 1"]
                return refusal
            }
            let token = #""access_token":"access-token-of-the-benchmark-\#(number)""#
            let rest = #""token_type":"Bearer","expires_in":3600,"refresh_token":"refresh-token-\#(number)""#
            return HTTPResponse(status: 200, json: "{\(token),\(rest)}")
        }
        try FileHandle.standardOutput.write(contentsOf: Data("\(server.port)\n".utf8))
        withExtendedLifetime(server) { while !FileHandle.standardInput.availableData.isEmpty {} }
    }

    private struct Counts: Sendable {
        var requests = 0
        private var second = 0
        private var inSecond = 0

        /// The number of a request; `nil` if it is beyond the limit.
        mutating func next(limit: Int) -> Int? {
            requests += 1
            let now = Int(Date.now.timeIntervalSinceReferenceDate)
            if now != second { (second, inSecond) = (now, 0) }
            inSecond += 1
            return limit == 0 || inSecond <= limit ? requests : nil
        }
    }
}
