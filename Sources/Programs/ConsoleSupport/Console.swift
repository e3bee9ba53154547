import Foundation

/// How a process ends.
///
/// The numbers above 1 are those of `sysexits.h`.
package enum ExitStatus: Int32, Sendable {
    case good = 0
    case failed = 1
    case usage = 64
    case noStore = 69
    case noSocket = 71
    case noOutput = 74
}

/// The two outputs of a command: results go to standard output, everything else to standard error.
package struct Console: Sendable {
    /// Standard output could not be written.
    struct OutputError: Error, CustomStringConvertible {
        let reason: String

        var description: String { "standard output could not be written: \(reason)" }
    }

    private let program: String
    private let isTerminal = isatty(STDERR_FILENO) == 1

    /// - Parameter program: the name that stands before each error.
    package init(program: String) {
        self.program = program
    }

    /// Runs the command.
    ///
    /// Reports an error of the command, and returns the exit status that fits the error.
    package func run(_ command: () async throws -> ExitStatus) async -> ExitStatus {
        do {
            return try await command()
        } catch {
            say("\(program): \(error)\(error is UsageError ? "\nTry \(program) --help." : "")")
            return switch error {
            case is UsageError: .usage
            case is OutputError: .noOutput
            default: .failed
            }
        }
    }

    /// Writes text and a line end to standard output.
    ///
    /// - Throws: an error that ``run(_:)`` reports, for instance when the disk is full.
    package func print(_ text: String) throws {
        do {
            // Unbuffered: a reader at the other end of a pipe sees each part at once.
            try FileHandle.standardOutput.write(contentsOf: Data("\(text)\n".utf8))
        } catch {
            throw OutputError(reason: error.localizedDescription)
        }
    }

    /// Writes a line to standard error.
    package func say(_ text: String) {
        endProgress()
        write("\(text)\n")
    }

    /// Shows progress: a line that is redrawn on a terminal, else the plain line, if there is one.
    package func showProgress(_ text: String, orLine line: String? = nil) {
        if isTerminal {
            write("\r\u{1B}[K\(text)")
        } else if let line {
            write("\(line)\n")
        }
    }

    /// Removes the progress line from a terminal.
    package func endProgress() {
        if isTerminal {
            write("\r\u{1B}[K")
        }
    }

    private func write(_ text: String) {
        // Without standard error there is no place left to report a failure to.
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
