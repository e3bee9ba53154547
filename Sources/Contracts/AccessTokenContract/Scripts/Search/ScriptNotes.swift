import AccessTokenAdapters
import AccessTokenSynchronization
import Foundation

/// A file with the scripts that are being played, for the case that the subject ends the process.
///
/// Each script that is being played has a page, and each step is noted there before it is performed. A search ends by
/// removing the file.
final class ScriptNotes: Sendable {
    private struct State {
        var file: FileHandle?
        var usedPages: Set<Int> = []
    }

    /// Longer than any script that is drawn.
    private static let pageSize = 1_024
    private static let blankPage = Data(repeating: UInt8(ascii: " "), count: pageSize - 1) + [UInt8(ascii: "\n")]

    /// `nil` if the file could not be made: then nothing is noted.
    let path: String?
    private let state: Locked<State>

    init() {
        let name = "access-token-contract-\(ProcessInfo.processInfo.processIdentifier)-\(UUID().uuidString).scripts"
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        let isThere = FileManager.default.createFile(
            atPath: url.path,
            contents: nil,
            attributes: [.posixPermissions: 0o600]
        )
        let file = isThere ? try? FileHandle(forWritingTo: url) : nil
        path = file == nil ? nil : url.path
        state = Locked(State(file: file))
    }

    func newPage() -> Page {
        let number = state.withLock { state in
            let number = (0...).first { !state.usedPages.contains($0) } ?? 0
            state.usedPages.insert(number)
            return number
        }
        return Page(number: number, notes: self)
    }

    func remove() {
        state.withLock { $0.file.take() }.map { try? $0.close() }
        path.map { try? FileManager.default.removeItem(atPath: $0) }
    }

    private func write(_ text: Data, on page: Int) {
        state.withLock { state in
            // A file that cannot be written is no reason to end the search.
            try? state.file?.seek(toOffset: UInt64(page * Self.pageSize))
            try? state.file?.write(contentsOf: text)
        }
    }

    /// Where one script is noted, in a form that can be pasted into code.
    final class Page: Sendable {
        private let number: Int
        private let notes: ScriptNotes
        private let script = Locked([] as Script)

        init(number: Int, notes: ScriptNotes) {
            self.number = number
            self.notes = notes
        }

        func begin(_ script: Script) {
            self.script.withLock { $0 = script }
            notes.write(ScriptNotes.blankPage, on: number)
        }

        func note(_ step: Step) {
            let line = script.withLock { script in
                script.steps.append(step)
                return "\(script)"
            }
            // Each line is longer than the one before, and covers it.
            notes.write(Data(line.utf8).prefix(ScriptNotes.pageSize - 1), on: number)
        }

        func close() {
            notes.write(ScriptNotes.blankPage, on: number)
            notes.state.withLock { _ = $0.usedPages.remove(number) }
        }
    }
}
