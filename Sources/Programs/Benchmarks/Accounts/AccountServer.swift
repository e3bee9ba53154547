import AccessTokenCore
import Foundation
import OAuthFoundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A token endpoint on the loopback address in a process of its own, which this program starts: `benchmarks --serve`.
///
/// It answers each refresh token with a new pair, and any `GET` with how many it has answered.
final class AccountServer: Sendable {
    private struct NoServer: Error, CustomStringConvertible {
        let description = "the server of the benchmark did not start"
    }

    let url: URL
    private let stop: @Sendable () -> Void

    init() throws {
        let (process, output) = (Process(), Pipe())
        process.executableURL = Bundle.main.executableURL
        process.arguments = ["--serve"]
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

    /// How many exchanges it has answered.
    func requests() async throws -> Int {
        let (data, _) = try await URLSession.shared.data(from: url)
        guard let count = Int(String(decoding: data, as: UTF8.self)) else { throw NoServer() }
        return count
    }

    /// Is the server, until its input ends.
    static func serve() throws {
        let answered = Locked(0)
        let server = try LoopbackHTTPServer(port: 0) { request, _ in
            guard request?.line.hasPrefix("POST") == true else {
                return HTTPResponse(status: 200, json: "\(answered.withLock { $0 })")
            }
            let number = answered.withLock { answered in
                answered += 1
                return answered
            }
            let token = #""access_token":"access-token-of-the-benchmark-\#(number)""#
            let rest = #""token_type":"Bearer","expires_in":3600,"refresh_token":"refresh-token-\#(number)""#
            return HTTPResponse(status: 200, json: "{\(token),\(rest)}")
        }
        try FileHandle.standardOutput.write(contentsOf: Data("\(server.port)\n".utf8))
        withExtendedLifetime(server) { while !FileHandle.standardInput.availableData.isEmpty {} }
    }
}
