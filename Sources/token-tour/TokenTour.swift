import Foundation
import LoopbackAuthorizationServer

/// The command `token-tour`.
@main
enum TokenTour {
    static func main() async {
        ProxyExemption.setForLoopback(environment: ProcessInfo.processInfo.environment)
        let progress = ProgressLine()
        let status: ExitStatus
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            status = options.isHelp ? write(Help.text + "\n", .good) : await run(options, progress)
        } catch {
            progress.say("token-tour: \(error)\nTry token-tour --help.")
            status = .usage
        }
        exit(status.rawValue)
    }

    private static func run(_ options: Options, _ progress: ProgressLine) async -> ExitStatus {
        let tour = Task { try await Tour(options: options).run(progress: progress) }
        let watch = InterruptWatch {
            progress.say("Stopping after this round; press Ctrl-C again not to wait for it.")
            tour.cancel()
        }
        defer { withExtendedLifetime(watch) {} }
        do {
            let results = try await tour.value
            let report = Report(results: results, isMermaid: options.isMermaid)
            return write(report.text, Verdict(results: results).isGood ? .good : .failed)
        } catch is CancellationError {
            progress.say("Stopped by Ctrl-C. The server is closed.")
            return .interrupted
        } catch {
            progress.say("token-tour: no server on the loopback address: \(error)")
            return .noSocket
        }
    }

    private static func write(_ text: String, _ status: ExitStatus) -> ExitStatus {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
            return status
        } catch {
            return .noOutput
        }
    }
}
