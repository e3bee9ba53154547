import AccessTokenOAuth
import Foundation
import LoopbackAuthorizationServer

extension ProcessSetUp {
    func run(_ options: Options, onRound: (Int) -> Void) async throws -> SetUpResult {
        // To write to a process that has ended must not end this one.
        signal(SIGPIPE, SIG_IGN)
        let server = try TourServer(latency: options.latency, limit: options.limit)
        defer { server.stop() }
        let folder = options.temporary.appendingPathComponent("token-tour-\(UUID().uuidString)")
        guard unsafe mkdir(folder.path, 0o700) == 0 else { throw FolderError(parent: options.temporary, code: errno) }
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = store(in: folder)
        let processes = options.processes ?? 1
        let crowd = try (0..<processes).map { number in
            // The first ones have one caller more if the callers cannot be shared out evenly.
            let share = options.callers / processes + (number < options.callers % processes ? 1 : 0)
            let worker = TourWorker(
                setUp: self,
                folder: folder,
                tokenEndpoint: server.endpoint.url,
                resource: server.resource,
                callers: share
            )
            return try TourProcess(worker, options.program)
        }
        defer { for process in crowd { process.end() } }

        return try await SetUpResult(self, options.rounds, on: server, store, onRound: onRound) {
            for process in crowd { process.begin() }
            var outcome = RoundOutcome()
            for process in crowd { outcome += await process.outcome() }
            return outcome
        }
    }
}

/// The folder of the credential could not be made.
struct FolderError: Error, CustomStringConvertible {
    let parent: URL
    /// That of the system.
    let code: Int32

    var description: String {
        """
        no folder could be made in \(parent.path): \(unsafe String(cString: strerror(code))). \
        Set TMPDIR to a folder that you can write to.
        """
    }
}

/// A process of the tour, as the process that started it sees it.
final class TourProcess: Sendable {
    private let process = Process()
    private let input = Pipe()
    private let callers: Int
    private let output = Pipe()

    init(_ worker: TourWorker, _ program: URL?) throws {
        callers = worker.callers
        process.executableURL = program
        process.environment = try worker.environment
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// Lets its callers call.
    func begin() {
        try? input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
    }

    /// How the round went for its callers; waits until they are answered.
    func outcome() async -> RoundOutcome {
        let line = await withCheckedContinuation { hasRead in
            // A thread, since reading blocks.
            Thread.detachNewThread { [output] in
                var line = Data()
                while line.last != UInt8(ascii: "\n"), case let part = output.fileHandleForReading.availableData,
                    !part.isEmpty
                {
                    line += part
                }
                hasRead.resume(returning: line)
            }
        }
        let outcome = try? JSONDecoder().decode(RoundOutcome.self, from: line)
        return outcome ?? RoundOutcome(reasons: ["the process has ended": callers])
    }

    /// Lets it end, and waits for that.
    func end() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
