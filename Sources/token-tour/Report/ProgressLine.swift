import Foundation

/// Says on standard error how far the tour is: one line that is redrawn on a terminal, else plain lines.
struct ProgressLine: Sendable {
    private let isTerminal: Bool

    init() {
        isTerminal = isatty(STDERR_FILENO) == 1
    }

    func show(_ name: SetUpName, round: Int, of rounds: Int) {
        if isTerminal {
            Self.write("\r\u{1B}[K\(name.rawValue): round \(round) of \(rounds)")
        } else if round == 1 {
            Self.write("\(name.rawValue): \(rounds) \(rounds == 1 ? "round" : "rounds")\n")
        }
    }

    /// Leaves nothing behind on a terminal.
    func end() {
        if isTerminal {
            Self.write("\r\u{1B}[K")
        }
    }

    /// Writes a line that stays.
    func say(_ text: String) {
        end()
        Self.write(text + "\n")
    }

    private static func write(_ text: String) {
        // If standard error is gone, there is nobody left to tell.
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
