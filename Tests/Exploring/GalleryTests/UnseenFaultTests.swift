import Foundation
import TestSupport
import Testing

@testable import race_gallery

@Suite(
    "In a process of its own",
    .eightAtATime,
    .serialized,
    .enabled(if: SeparateProcess.compiler != nil, "there is no swiftc on the search path"),
    .timeLimit(.minutes(10))
)
struct UnseenFaultTests {
    /// Eight threads ask for a token, and a ninth handler ends the program.
    private static let eightThreads = """
        import Dispatch
        import Foundation

        func effect(_ text: String) {}

        struct Network: TokenLoader {
            func load(then handler: @escaping TokenHandler) {
                DispatchQueue.global().async { handler(.success(CachedToken(value: 1, isValid: true))) }
            }
        }

        let service: any TokenRetrieving =
            switch CommandLine.arguments.last {
            case "version-2": AccessTokenServiceVersion2(loader: Network())
            case "version-3": AccessTokenServiceVersion3(loader: Network())
            default: fatalError("no such version")
            }
        let threads = DispatchGroup()
        for _ in 0..<8 {
            threads.enter()
            Thread.detachNewThread {
                for _ in 0..<100 { service.retrieveToken { _ in } }
                threads.leave()
            }
        }
        threads.wait()
        let answered = DispatchSemaphore(value: 0)
        service.retrieveToken { _ in answered.signal() }
        answered.wait()
        """

    @Test("the thread sanitizer reports the unprotected array of handlers, and not the one on a queue")
    func dataRace() async throws {
        let program = try await SeparateProcess(
            Self.eightThreads,
            with: ["Sources/Exploring/RaceGallery/Exhibits/AccessTokenService+Versions.swift"],
            options: ["-sanitize=thread", "-enable-upcoming-feature", "ImmutableWeakCaptures"]
        )
        defer { program.remove() }
        let options = ["TSAN_OPTIONS": "halt_on_error=1 exitcode=66"]
        let queue = try await program.run("version-3", environment: options)
        #expect(queue.status == 0, "\(queue.output)")
        let unprotected = try await program.run("version-2", environment: options)
        #expect(unprotected.status == 66)
        #expect(unprotected.output.contains("WARNING: ThreadSanitizer"), "\(unprotected.output)")
        #expect(unprotected.output.contains("AccessTokenServiceVersion2"), "\(unprotected.output)")
    }

    /// The exhibit `call-back` with real queues.
    private static let twoQueues = """
        import Dispatch

        let session = DispatchQueue(label: "session")
        let store = DispatchQueue(label: "store")
        print("begins")
        session.sync {
            store.sync {
                session.sync { print("is called back") }
            }
        }
        """

    @Test("two serial queues that call each other with sync never end")
    func deadlock() async throws {
        let program = try await SeparateProcess(Self.twoQueues)
        defer { program.remove() }
        // Dispatch ends a process that waits for a queue which it is on. The backtrace would take seconds.
        let result = try await program.run(environment: ["SWIFT_BACKTRACE": "enable=no"])
        #expect(result.wasKilledBySignal)
        #expect(!result.output.contains("is called back"))
    }
}
