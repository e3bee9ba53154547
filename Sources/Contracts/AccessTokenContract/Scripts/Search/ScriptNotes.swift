import AccessTokenAdapters
import AccessTokenSynchronization
import Foundation

/// A file with the clause that is running or the scripts that are being played, for the case that the subject ends the
/// process.
///
/// Each script that is being played has a page, and each step is noted there before it is performed. A verification
/// ends by removing the file.
final class ScriptNotes: Sendable {
    private struct State {
        var file: FileHandle?
        var usedPages: Set<Int> = []
        /// Closed when this process ends.
        var pipe: Pipe?
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

    /// Has the notes written to standard error once more if the process ends before they are removed: below the
    /// backtrace, which may be long.
    ///
    /// A shell waits beside this process for its end. Where there is none, the notes stay in their file.
    func areReadOutAfterACrash() {
        #if os(Linux) || os(macOS)
        guard let path else { return }
        let shell = Process()
        let pipe = Pipe()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", "cat; test -f \"$0\" && sed -n '/[^ ]/{s/ *$//;p;}' \"$0\" >&2", path]
        shell.standardInput = pipe
        shell.standardOutput = FileHandle.nullDevice
        guard (try? shell.run()) != nil else { return }
        state.withLock { $0.pipe = pipe }
        #endif
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
        path.map { try? FileManager.default.removeItem(atPath: $0) }
        let (file, pipe) = state.withLock { ($0.file.take(), $0.pipe.take()) }
        try? file?.close()
        try? pipe?.fileHandleForWriting.close()
    }

    private func write(_ data: Data, on page: Int, at offset: Int = 0) {
        state.withLock { state in
            // A file that cannot be written is no reason to end the search.
            try? state.file?.seek(toOffset: UInt64(page * Self.pageSize + offset))
            try? state.file?.write(contentsOf: data)
        }
    }

    /// Where one script is noted, in a form that can be pasted into code.
    final class Page: Sendable {
        private let number: Int
        private let notes: ScriptNotes
        /// How many bytes stand on the page that stay there, and what comes before and behind the next step.
        private let line = Locked((length: 0, next: "", end: ""))

        init(number: Int, notes: ScriptNotes) {
            self.number = number
            self.notes = notes
        }

        /// Notes what the subject is asked at present; `nil` if nothing.
        func note(_ line: String?) {
            notes.write(ScriptNotes.blankPage, on: number)
            if let line { write(line, at: 0) }
        }

        /// Begins a script that has no steps yet.
        func begin(_ script: Script) {
            let text = "\(script)"
            let end = text.hasSuffix("])") ? "])" : "]"
            line.withLock { $0 = (0, String(text.dropLast(end.count)), end) }
            notes.write(ScriptNotes.blankPage, on: number)
        }

        /// Notes a step behind the others.
        func note(_ step: Step) {
            let (text, offset) = line.withLock { line in
                let (text, offset) = (line.next + "\(step)", line.length)
                line.length += text.utf8.count
                line.next = ", "
                return (text + line.end, offset)
            }
            write(text, at: offset)
        }

        private func write(_ text: String, at offset: Int) {
            let data = Data(text.utf8).prefix(max(0, ScriptNotes.pageSize - 1 - offset))
            if !data.isEmpty { notes.write(data, on: number, at: offset) }
        }

        func close() {
            notes.write(ScriptNotes.blankPage, on: number)
            notes.state.withLock { _ = $0.usedPages.remove(number) }
        }
    }
}
