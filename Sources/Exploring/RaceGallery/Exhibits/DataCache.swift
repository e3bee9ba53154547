import Foundation
import InterleavingExplorer

/// A cache of downloads whose entries are in progress or loaded, and a download that fails.
@available(Executors, *)
enum DataCache {
    private static let title = "Callers share a download that fails, and try once more"

    static let exhibit = Exhibit(
        name: "data-cache",
        title: title,
        story: """
            Three callers miss at the same time. Without an entry for the download in progress, each of them fetches. \
            With an entry, they share one task. A task keeps its error for ever, so a failed task must be removed. If \
            each caller that gets the error removes the entry, a slow caller removes the new task of a fast one.
            """,
        invariants: ["everybody has the data in the end", "one download after the failure"],
        versions: [
            .faulty(
                "fetch-per-caller",
                breaks: "one download after the failure",
                "downloads when it finds no data",
                scenario(.unshared, callers: ["first", "second", "third"])
            ),
            .wrongFix(
                "failure-kept",
                breaks: "everybody has the data in the end",
                "never removes a failed task",
                scenario(.nobodyClears)
            ),
            .wrongFix(
                "every-caller-clears",
                breaks: "one download after the failure",
                "each caller that wakes to the error removes the entry",
                scenario(.everyCallerClears)
            ),
            .fix(
                "download-clears",
                "the download makes its entry loaded, or removes it",
                scenario(.downloadClears)
            ),
            .fix("clears-its-own", "callers remove no task but the one they awaited", scenario(.callersClearTheirOwn)),
        ]
    )

    private static func scenario(_ style: DataRegistry.Style, callers: [String] = ["first", "second"]) -> Scenario {
        Scenario(title) { run in
            let id = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))
            let registry = DataRegistry(style) { number in
                await run.pause(number == 1 ? "failure" : "data")
                if number == 1 {
                    throw DownloadFailed()
                }
            }
            let callers = callers.map { name in
                run.operation(name, mayThrow: true) {
                    do {
                        return try await registry.data(for: id)
                    } catch {
                        note("tries once more")
                        return try await registry.data(for: id)
                    }
                }
            }
            run.invariant("everybody has the data in the end") { callers.allSatisfy { $0.error == nil } }
            run.invariant("one download after the failure") { await registry.downloads == 2 }
        }
    }
}

@available(Executors, *)
private struct DownloadFailed: Error {}

@available(Executors, *)
private actor DataRegistry {
    enum Style: Sendable {
        case unshared
        case nobodyClears
        case everyCallerClears
        case downloadClears
        case callersClearTheirOwn
    }

    private enum Entry {
        case inProgress(Task<Data, any Error>)
        case loaded(Data)
    }

    private(set) var downloads = 0
    private var entries: [UUID: Entry] = [:]
    private let style: Style
    private let server: @Sendable (Int) async throws -> Void

    init(_ style: Style, server: @escaping @Sendable (Int) async throws -> Void) {
        self.style = style
        self.server = server
    }

    func data(for id: UUID) async throws -> Data {
        switch entries[id] {
        case .loaded(let data):
            return data
        case .inProgress(let task):
            note("joins")
            return try await data(of: task, for: id)
        case nil:
            note("finds no entry")
            guard style != .unshared else { return try await download(id) }
            let task = Task { try await download(id) }
            entries[id] = .inProgress(task)
            return try await data(of: task, for: id)
        }
    }

    private func data(of task: Task<Data, any Error>, for id: UUID) async throws -> Data {
        do {
            return try await task.value
        } catch {
            var isOwn = false
            if case .inProgress(task) = entries[id] { isOwn = true }
            switch style {
            case .unshared, .nobodyClears, .downloadClears:
                break
            case .everyCallerClears:
                note(isOwn ? "removes the failed task" : "removes whatever entry there is")
                entries[id] = nil
            case .callersClearTheirOwn:
                if isOwn { entries[id] = nil }
            }
            throw error
        }
    }

    private func download(_ id: UUID) async throws -> Data {
        downloads += 1
        let number = downloads
        note("starts download \(number)")
        do {
            try await server(number)
            entries[id] = .loaded(Data())
            return Data()
        } catch {
            if style == .downloadClears {
                entries[id] = nil
            }
            throw error
        }
    }
}
