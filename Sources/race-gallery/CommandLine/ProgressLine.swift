import Foundation

/// Says on standard error what is being explored: one line that is redrawn on a terminal, else a line for each exhibit.
struct ProgressLine: Sendable {
    private let isTerminal: Bool

    init() {
        isTerminal = isatty(STDERR_FILENO) == 1
    }

    func show(_ exhibit: Exhibit, _ version: Version) {
        if isTerminal {
            Self.write("\r\u{1B}[Kexploring \(exhibit.name): \(version.name)")
        } else if version.name == exhibit.versions.first?.name {
            Self.write("exploring \(exhibit.name)\n")
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
