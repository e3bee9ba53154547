import Foundation
import InterleavingExplorer

/// An in-flight registry in which a download fails.
enum DataCache {
    private static let title = "Two callers share a download that fails, and each tries once more"

    static let exhibit = Exhibit(
        name: "data-cache",
        title: title,
        story: """
            The registry shares one task per UUID. A task keeps its error for ever, so somebody must take it out. If \
            each caller who wakes to the error does, the slower one takes out the new task of the faster one.
            """,
        invariants: ["everybody has the data in the end", "one download after the failure"],
        versions: [
            .wrongFix(
                "failure-kept",
                breaks: "everybody has the data in the end",
                "never takes a failed task out",
                scenario(.nobodyClears)
            ),
            .wrongFix(
                "every-caller-clears",
                breaks: "one download after the failure",
                "each caller that wakes to the error takes it out",
                scenario(.everyCallerClears)
            ),
            .fix("download-clears", "the failed download takes itself out", scenario(.downloadClears)),
            .fix("clears-its-own", "callers take out no task but theirs", scenario(.callersClearTheirOwn)),
        ]
    )

    private static func scenario(_ style: DataRegistry.Style) -> Scenario {
        Scenario(title) { run in
            let id = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1))
            let registry = DataRegistry(style) { number in
                await run.pause(number == 1 ? "failure" : "data")
                if number == 1 {
                    throw DownloadFailed()
                }
            }
            let callers = ["first", "second"].map { name in
                run.operation(name, mayThrow: true) {
                    do {
                        return try await registry.data(for: id)
                    } catch {
                        note("tries once more")
                        return try await registry.data(for: id)
                    }
                }
            }
            run.invariant("everybody has the data in the end") { callers.allSatisfy { $0.value != nil } }
            run.invariant("one download after the failure") { await registry.downloads == 2 }
        }
    }
}

private struct DownloadFailed: Error {}

private actor DataRegistry {
    enum Style: Sendable {
        case nobodyClears
        case everyCallerClears
        case downloadClears
        case callersClearTheirOwn
    }

    private(set) var downloads = 0
    private var entries: [UUID: Task<Data, any Error>] = [:]
    private let style: Style
    private let server: @Sendable (Int) async throws -> Void

    init(_ style: Style, server: @escaping @Sendable (Int) async throws -> Void) {
        self.style = style
        self.server = server
    }

    func data(for id: UUID) async throws -> Data {
        note(entries[id] == nil ? "finds no entry" : "joins")
        let task = entries[id] ?? start(id)
        do {
            return try await task.value
        } catch {
            switch style {
            case .nobodyClears, .downloadClears:
                break
            case .everyCallerClears:
                note(entries[id] == task ? "clears the failed task" : "clears the slot, whoever is in it")
                entries[id] = nil
            case .callersClearTheirOwn:
                if entries[id] == task {
                    entries[id] = nil
                }
            }
            throw error
        }
    }

    private func start(_ id: UUID) -> Task<Data, any Error> {
        downloads += 1
        let number = downloads
        note("starts download \(number)")
        let task = Task {
            do {
                try await server(number)
                return Data()
            } catch {
                if style == .downloadClears {
                    entries[id] = nil
                }
                throw error
            }
        }
        entries[id] = task
        return task
    }
}
