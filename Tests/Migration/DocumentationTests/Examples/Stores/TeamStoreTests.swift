import CredentialStoreContract
import Testing

@Suite("The contract for stores")
struct TeamStoreTests {
    let subject = StoreSubject("our database", features: [.openings, .waitLimit]) { fixture in
        TeamStore(database: YourDatabase(lockTimeout: fixture.waitLimit), user: fixture.name)
    }

    @Test func `is kept`() async {
        let report = await StoreContract.verify(subject)
        #expect(report.isKept, "\(report)")
    }
}
