import ConsoleSupport
import InterleavingExplorer
import TestSupport
import Testing

@testable import race_gallery

@Suite("The exit status", .eightAtATime)
struct ExitStatusTests {
    private func status(of exhibit: Exhibit) async throws -> ConsoleSupport.ExitStatus {
        try await RaceGallery.show([exhibit], isMermaid: false)
    }

    /// An exhibit with one version, of which something is expected that it may not do.
    private func exhibit(_ version: Version, breaking invariant: String?) -> Exhibit {
        let exhibit = BankAccount.exhibit
        return Exhibit(
            name: exhibit.name,
            title: exhibit.title,
            story: exhibit.story,
            invariants: exhibit.invariants,
            versions: [
                Version(version.name, version.summary, breaks: invariant, version.scenario)
            ]
        )
    }

    @Test("is 0 only if each verdict is as expected")
    func verdicts() async throws {
        let versions = BankAccount.exhibit.versions
        let faulty = try #require(versions.first { $0.breaks != nil })
        let fixed = try #require(versions.first { $0.breaks == nil })
        #expect(try await status(of: exhibit(faulty, breaking: faulty.breaks)) == .good)
        #expect(try await status(of: exhibit(faulty, breaking: nil)) == .failed, "a fix that breaks")
        #expect(try await status(of: exhibit(faulty, breaking: "something else")) == .failed, "another invariant")
        #expect(try await status(of: exhibit(fixed, breaking: nil)) == .good)
        #expect(try await status(of: exhibit(fixed, breaking: faulty.breaks)) == .failed, "a bug that is not there")
    }

    @Test("is 1 if a schedule does not fit")
    func leftoverDigits() async throws {
        let version = try #require(BankAccount.exhibit.versions.first { $0.breaks != nil })
        let zeros = String(repeating: "0", count: 30)
        let options = try Options([BankAccount.exhibit.name, version.name, "--replay", "\(zeros)1"])
        #expect(try await RaceGallery.run(options) == .failed)
    }
}
