import InterleavingExplorer
import Testing

// snippet: explorer
actor TicketOffice {
    private var seats = 1
    private(set) var sold = 0

    func sell(checkingCard check: @Sendable () async -> Void) async {
        guard seats > 0 else { return }
        await check()  // meanwhile the actor lets in the next caller
        seats -= 1
        sold += 1
    }
}

let twoCustomers = Scenario("two customers, one seat") { run in
    let office = TicketOffice()
    for name in ["first", "second"] {
        run.operation(name) { await office.sell { await run.pause("card is good") } }
    }
    run.invariant("no seat is sold twice") { await office.sold <= 1 }
}

func checkTicketOffice() async throws {
    try await Explorer().explore(twoCustomers).verify()
}
// end snippet

@Suite("The example in the README")
struct ReadmeExample {
    @Test func `finds the bug, and prints what the README says`() async throws {
        let failure = try #require(await #expect(throws: ScenarioFailure.self) { try await checkTicketOffice() })
        #expect(
            failure.description == """
                broken invariant: “no seat is sold twice” does not hold
                schedule 0, 0 delays (steps out of first-in-first-out order, marked with *)
                 1  first     starts; TicketOffice runs
                 2  second    starts; TicketOffice runs
                 3  scenario  card is good; wakes first; TicketOffice runs for first
                 4  scenario  card is good; wakes second; TicketOffice runs for second
                 5  first     continues; ends
                 6  second    continues; ends
                """
        )
    }
}
