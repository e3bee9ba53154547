import AccessTokenContract
import PublishedBugs
import Testing

@Suite("Planted bugs are caught by their clauses")
struct PlantedBugTests {
    /// For steps that never come; what does come is not waited for by time.
    static let patience = Duration.milliseconds(300)

    static func plainSubject(bug: PlantedBug?) -> ContractSubject {
        let features: ContractFeatures = [
            .expiry, .leeway, .refreshAhead, .invalidation, .signOut, .signIn, .cancellation, .loadDeadline,
            .currentToken,
            .deliveryQueue, .callbackLoader,
        ]
        return ContractSubject("a plain service", features: features) { fixture in
            let service = PlainService(fixture, bug: bug)
            return .callback(
                service,
                signIn: { [weak service] in service?.signIn($0) },
                currentToken: { [weak service] in service?.currentToken }
            )
        }
    }

    @Test func `a plain service without a bug keeps the contract`() async {
        let report = await AccessTokenContract.verify(Self.plainSubject(bug: nil))
        #expect(report.isKept, "\(report)")
    }

    @Test(arguments: PlantedBug.allCases)
    func `in a plain service`(_ bug: PlantedBug) async throws {
        let clause = try #require(AccessTokenContract.clauses.first { $0.id == bug.clause })
        await #expect(throws: ContractViolation.self, "\(bug) must break \(clause.id)") {
            try await clause.verify(Self.plainSubject(bug: bug), patience: Self.patience)
        }
    }

    /// The published bugs, each with the clauses that it breaks.
    static let published: [(subject: ContractSubject, clauses: [String])] = [
        (callback("the first version") { FirstVersionService(loader: $0.loader) }, ["S1", "S2", "D3"]),
        (callback("weak self") { WeakSelfService(loader: $0.loader) }, ["D6"]),
        (async("an unguarded await") { UnguardedActor(loader: $0.loader) }, ["S1", "S2", "X3"]),
        (
            async("every caller's defer") { fixture in
                let keychain = SlowKeychain(loader: fixture.loader)
                return DeferClearingActor(loader: fixture.loader) { await keychain.save($0) }
            }, ["S3"]
        ),
        (async("a failed task that stays") { NeverClearingActor(loader: $0.loader) }, ["F2", "D2", "R1"]),
        (async("a waiter that cancels all") { CancelForwardingActor(loader: $0.loader) }, ["X1", "X2"]),
        (async("a leader that fails all") { LeadersTaskActor(loader: $0.loader) }, ["X1", "X2"]),
        (async("a late answer after sign-out") { LateAnswerActor(loader: $0.loader) }, ["O1"]),
    ]

    @Test(arguments: published.indices)
    func `as published`(_ index: Int) async throws {
        let (subject, ids) = Self.published[index]
        for id in ids {
            let clause = try #require(AccessTokenContract.clauses.first { $0.id == id })
            await #expect(throws: ContractViolation.self, "\(subject) must break \(id)") {
                try await clause.verify(subject, patience: Self.patience)
            }
        }
    }

    @Test func `every clause has a planted bug`() {
        let caught = Set(PlantedBug.allCases.map(\.clause) + Self.published.flatMap(\.clauses))
        #expect(AccessTokenContract.clauses.map(\.id).filter { !caught.contains($0) } == [])
    }

    private static func callback(
        _ name: String,
        make: @escaping @Sendable (ContractFixture) -> any AccessTokenProviding
    ) -> ContractSubject {
        ContractSubject(name, features: [.callbackLoader]) { .callback(make($0)) }
    }

    private static func async(
        _ name: String,
        make: @escaping @Sendable (ContractFixture) -> any AsyncAccessTokenProviding
    ) -> ContractSubject {
        let features: ContractFeatures = [.invalidation, .signOut, .cancellation, .asyncCallers, .asyncLoader]
        return ContractSubject(name, features: features) { .async(make($0)) }
    }
}
