import AccessTokenOAuth
import Foundation
import LoopbackAuthorizationServer

/// Runs the rounds of a set-up of several processes.
struct ProcessRun: Sendable {
    let setUp: ProcessSetUp
    let rounds: Int
    let processes: Int
    /// In all processes together.
    let callers: Int
    /// The connection string of a database, for the set-up that needs one.
    var postgres: String?
    /// The tour itself, for its other processes.
    var program = Bundle.main.executableURL

    /// - Throws: `SocketError` if the server gets no socket, `CredentialStoreError`.
    func run(onRound: (Int) -> Void) async throws -> SetUpResult {
        // To write to a process that has ended must not end this one.
        signal(SIGPIPE, SIG_IGN)
        let server = try TourServer()
        defer { server.stop() }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("token-tour-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let place = CredentialPlace(folder: folder, postgres: postgres)
        let store = setUp.store(at: place)
        let crowd = try (0..<processes).map { number in
            // The first ones have one caller more if the callers cannot be shared out evenly.
            let share = callers / processes + (number < callers % processes ? 1 : 0)
            return try TourProcess(TourWorker(setUp: setUp, place: place, server: server, callers: share), program)
        }
        defer { for process in crowd { process.end() } }

        let signIn = { (_: AccessToken, credential: Credential) in
            _ = try await store.update { _ in .replace(credential) }
        }
        return try await SetUpResult(setUp, rounds, on: server, onRound: onRound, signIn: signIn) {
            for process in crowd { process.begin() }
            var outcome = RollCall.Outcome()
            for process in crowd { outcome += await process.outcome() }
            return outcome
        }
    }
}

/// A process of the tour, as the process that started it sees it.
final class TourProcess: Sendable {
    private let process = Process()
    private let input = Pipe()
    private let callers: Int
    private let lines: AsyncStream<String>

    init(_ worker: TourWorker, _ program: URL?) throws {
        callers = worker.callers
        let output = Pipe()
        process.executableURL = program
        process.arguments = worker.arguments
        process.environment = worker.place.environment
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        // A thread, since reading blocks.
        let (lines, yield) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        Thread.detachNewThread {
            var text = Data()
            while case let part = output.fileHandleForReading.availableData, !part.isEmpty {
                text += part
                while let end = text.firstIndex(of: UInt8(ascii: "\n")) {
                    yield.yield(String(decoding: text[..<end], as: UTF8.self))
                    text = Data(text[text.index(after: end)...])
                }
            }
            yield.finish()
        }
    }

    /// Lets its callers call.
    func begin() {
        try? input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
    }

    /// How the round went for its callers; waits until they are answered.
    func outcome() async -> RollCall.Outcome {
        guard let line = await lines.first(where: { _ in true }),
            let outcome = try? JSONDecoder().decode(RollCall.Outcome.self, from: Data(line.utf8))
        else { return RollCall.Outcome(reasons: ["the process has ended": callers]) }
        return outcome
    }

    /// Lets it end, and waits for that.
    func end() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
