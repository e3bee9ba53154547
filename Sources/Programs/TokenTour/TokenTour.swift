import AccessTokenOAuth
import ConsoleSupport
import Foundation
import LoopbackAuthorizationServer

/// The command `token-tour`.
@main
enum TokenTour {
    private static let console = Console(program: "token-tour")

    static func main() async {
        ProxyExemption.setForLoopback(environment: ProcessInfo.processInfo.environment)
        if let worker = TourWorker(Array(CommandLine.arguments.dropFirst())) { return await worker.run() }
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

    private static func run(_ options: Options) async throws -> ExitStatus {
        let tour = Task { try await results(of: options) }
        let watch = InterruptWatch {
            console.say("Stopping after this round; press Ctrl-C again to stop at once.")
            tour.cancel()
        }
        defer { withExtendedLifetime(watch) {} }
        do {
            let report = Report(results: try await tour.value, isMermaid: options.isMermaid)
            try console.print(report.text)
            return report.isGood ? .good : .failed
        } catch is CancellationError {
            console.say("Stopped by Ctrl-C.")
            return .interrupted
        } catch let error as CredentialStoreError {
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
        if let processes = options.processes {
            for setUp in ProcessSetUp.all(withPostgres: options.postgres != nil) {
                let run = ProcessRun(
                    setUp: setUp,
                    rounds: options.rounds,
                    processes: processes,
                    callers: options.callers,
                    postgres: options.postgres
                )
                results.append(try await run.run { showProgress(of: setUp, $0, options) })
            }
            return results
        }
        for setUp in options.setUps {
            let run = SetUpRun(setUp: setUp, rounds: options.rounds, callers: options.callers)
            results.append(try await run.run { showProgress(of: setUp, $0, options) })
        }
        return results
    }

    private static func showProgress(of setUp: any TourSetUp, _ round: Int, _ options: Options) {
        let rounds = "\(options.rounds) round\(options.rounds == 1 ? "" : "s")"
        console.showProgress(
            "\(setUp.rawValue): round \(round) of \(options.rounds)",
            orLine: round == 1 ? "\(setUp.rawValue): \(rounds)" : nil
        )
    }
}
