import AccessTokenOAuth
import Foundation
import LoopbackAuthorizationServer

/// One process of the tour: a service, and callers that call it once for each line on standard input.
struct TourWorker: Codable, Sendable {
    /// The environment variable of such a process.
    private static let variable = "TOKEN_TOUR_WORKER"

    let setUp: ProcessSetUp
    let folder: URL
    let tokenEndpoint: URL
    let resource: URL
    let callers: Int

    /// What the tour started this process as; `nil` in the tour itself.
    static var ofThisProcess: TourWorker? {
        ProcessInfo.processInfo.environment[variable]
            .flatMap { try? JSONDecoder().decode(TourWorker.self, from: Data($0.utf8)) }
    }

    /// For the process that is to be this worker.
    var environment: [String: String] {
        get throws {
            let worker = String(decoding: try JSONEncoder().encode(self), as: UTF8.self)
            return ProcessInfo.processInfo.environment.merging([Self.variable: worker]) { $1 }
        }
    }

    /// Answers each line with how the round went; ends with standard input.
    func run() async {
        let endpoint = TokenEndpoint(
            tokenEndpoint,
            authentication: .none(clientID: RotatingAuthorizationServer.clientID)
        )
        let service = setUp.service(endpoint, setUp.store(in: folder))
        let caller = ResourceClient(resource: resource).asyncCaller(of: service)
        while readLine() != nil {
            let outcome = await RoundOutcome(of: Array(repeating: caller, count: callers))
            guard let line = try? JSONEncoder().encode(outcome),
                (try? FileHandle.standardOutput.write(contentsOf: line + Data("\n".utf8))) != nil
            else { return }
        }
    }
}
