import CredentialStoreContract
import Foundation
import TestSupport
import Testing

@Suite("The contract for stores", .eightAtATime, .timeLimit(.minutes(10)))
struct OwnStoresTests {
    private static let memory = StoreSubject("the store in memory", features: .waitLimit, promises: ["X2"]) { fixture in
        MemoryCredentialStore(waitLimit: fixture.waitLimit)
    }

    private static let folder = StoreSubject(
        "the store in a folder",
        features: [.openings, .waitLimit],
        promises: ["X2"]
    ) { fixture in
        FileCredentialStore(folder: fixture.folder, waitLimit: fixture.waitLimit)
    }

    @Test(arguments: [(memory, ["K2", "E2"]), (folder, [])])
    func `is kept, and no more is skipped than that memory has one opening`(subject: StoreSubject, skipped: [String])
        async
    {
        let report = await StoreContract.verify(subject, onProgress: nil)
        #expect(report.isKept, "\(report)")
        #expect(report.skippedIDs == skipped)
    }
}
