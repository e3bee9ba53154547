import Foundation
import LoopbackAuthorizationServer

/// The command `token-tour`.
@main
enum TokenTour {
    static func main() async {
        let environment = ProcessInfo.processInfo.environment
        ProxyExemption.setForLoopback(environment: environment)
        let progress = ProgressLine()
        let status: ExitStatus
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()), environment: environment)
            status = options.isHelp ? write(Help.text + "\n", .good) : await run(options, progress)
        } catch {
            progress.say("token-tour: \(error)\nTry token-tour --help.")
            status = .usage
        }
        exit(status.rawValue)
    }

    private static func run(_ options: Options, _ progress: ProgressLine) async -> ExitStatus {
        let tour = Tour(options: options)
        let task = Task { try await tour.run(progress: progress) }
        let watch = InterruptWatch {
            progress.say("Stopping after this round; press Ctrl-C again not to wait for it.")
            task.cancel()
        } onSecond: {
            _ = handBack(tour, progress, .interrupted)
        }
        defer { withExtendedLifetime(watch) {} }
        do {
            let results = try await task.value
            let report = Report(results: results, isMermaid: options.isMermaid, server: tour.server)
            let status = write(report.text, Verdict(results: results).isGood ? .good : .failed)
            return handBack(tour, progress, status)
        } catch is CancellationError {
            progress.say("Stopped by Ctrl-C.")
            return handBack(tour, progress, .interrupted)
        } catch let error as ServerError {
            progress.say("token-tour: \(error)")
            return handBack(tour, progress, error.status)
        } catch let error as SocketError {
            progress.say("token-tour: no server on the loopback address: \(error)")
            return .noSocket
        } catch {
            progress.say("token-tour: \(error)")
            return handBack(tour, progress, .failed)
        }
    }

    /// Whatever has happened: the last refresh token of a user's own is nowhere but here.
    private static func handBack(_ tour: Tour, _ progress: ProgressLine, _ status: ExitStatus) -> ExitStatus {
        guard let server = tour.options.server, let token = tour.refreshToken else { return status }
        guard server.printsRefreshToken else {
            if tour.server.showsRotation {
                progress.say(
                    "The refresh token that was given is spent; --print-refresh-token would print the last one."
                )
            }
            return status
        }
        return write("REFRESH_TOKEN=\(token)\n", status)
    }

    private static func write(_ text: String, _ status: ExitStatus) -> ExitStatus {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
            return status
        } catch {
            ProgressLine().say("token-tour: standard output could not be written: \(error.localizedDescription)")
            return .noOutput
        }
    }
}
