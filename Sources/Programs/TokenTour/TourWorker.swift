import AccessTokenOAuth
import Foundation
import LoopbackAuthorizationServer

/// One process of the tour: a service, and callers that call it once for each line on standard input.
struct TourWorker: Sendable {
    /// The first argument of such a process; the help does not mention it, since only the tour starts one.
    private static let mark = "tour-worker"

    let setUp: ProcessSetUp
    let place: CredentialPlace
    let tokenEndpoint: URL
    let resource: URL
    let callers: Int

    init(setUp: ProcessSetUp, place: CredentialPlace, server: TourServer, callers: Int) {
        self.setUp = setUp
        self.place = place
        tokenEndpoint = server.endpoint.url
        resource = server.resource
        self.callers = callers
    }

    /// - Parameter arguments: those after the program's name; `nil` if they are not those of a worker.
    init?(_ arguments: [String]) {
        guard arguments.count == 6, arguments[0] == Self.mark, let setUp = ProcessSetUp(rawValue: arguments[1]),
            let tokenEndpoint = URL(string: arguments[3]), let resource = URL(string: arguments[4]),
            let callers = Int(arguments[5])
        else { return nil }
        self.setUp = setUp
        place = CredentialPlace(folder: URL(fileURLWithPath: arguments[2]))
        self.tokenEndpoint = tokenEndpoint
        self.resource = resource
        self.callers = callers
    }

    var arguments: [String] {
        [
            Self.mark, setUp.rawValue, place.folder.path, tokenEndpoint.absoluteString, resource.absoluteString,
            "\(callers)",
        ]
    }

    /// Answers each line with how the round went; ends with standard input.
    func run() async {
        let endpoint = TokenEndpoint(
            tokenEndpoint,
            authentication: .none(clientID: RotatingAuthorizationServer.clientID)
        )
        let service = setUp.service(endpoint, setUp.store(at: place))
        let caller = AsyncCaller(service: service, resource: ResourceClient(resource: resource))
        while readLine() != nil {
            let outcome = await RollCall.outcome(of: Array(repeating: caller, count: callers))
            guard let line = try? JSONEncoder().encode(outcome),
                (try? FileHandle.standardOutput.write(contentsOf: line + Data("\n".utf8))) != nil
            else { return }
        }
    }
}
