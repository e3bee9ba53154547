import AccessTokenOAuth
import ConsoleSupport
import Foundation
import LoopbackAuthorizationServer

/// The command `token-tour`.
@main
enum TokenTour {
    private static let console = Console(program: "token-tour")

    static func main() async {
        keepFromProxy()
        if let worker = TourWorker.ofThisProcess { return await worker.run() }
        let status = await console.run {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            guard !options.isHelp else {
                try console.print(Options.help)
                return .good
            }
            return try await run(options)
        }
        exit(status.rawValue)
    }

    static func run(_ options: Options) async throws -> ExitStatus {
        do {
            let report = Report(results: try await results(of: options))
            try console.print(report.text)
            return report.isGood ? .good : .failed
        } catch let error as CredentialStoreError {
            console.say("token-tour: \(error)")
            return .noStore
        } catch let error as FolderError {
            console.say("token-tour: \(error)")
            return .noStore
        } catch let error as SocketError {
            console.say("token-tour: the server got no socket on the loopback address: \(error)")
            return .noSocket
        }
    }

    /// Runs the set-ups one after the other.
    private static func results(of options: Options) async throws -> [SetUpResult] {
        defer { console.endProgress() }
        var results: [SetUpResult] = []
        for setUp in options.setUps {
            let result = try await setUp.run(options) { round in
                let progress = "\(setUp.rawValue): round \(round) of \(options.rounds)"
                console.showProgress(progress, orLine: round == 1 ? setUp.rawValue : nil)
            }
            results.append(result)
        }
        return results
    }
}
