import AccessTokenOAuth

extension StoreContract {
    static let exclusion = [
        StoreClause(
            "E1",
            .critical,
            "run one body at a time",
            intent: "two exchanges of one refresh token look like theft, and the server signs the user out",
            remedy: "hold the exclusion from before the record is read until after the change is written"
        ) { run in
            let opening = try await run.open()
            try await run.overlap(Array(repeating: opening, count: 20))
        },

        StoreClause(
            "E2",
            .critical,
            "run one body at a time, by whichever opening",
            intent: "an app and its extension, or two commands at once, would sign each other out",
            remedy: "lock what all processes share, not an object of one process",
            resembles: "gcloud and aws-cli #10628: two commands at once break the stored session",
            needs: .openings
        ) { run in
            let openings = [try await run.open(), try await run.open()]
            try await run.overlap(Array(repeating: openings, count: 10).flatMap(\.self))
        },

        StoreClause(
            "E3",
            .critical,
            "show a body the record as it is inside, and not as it was when the update was called",
            intent: "a waiter that does not see what the one before it stored sends the spent refresh token",
            remedy: "read the record after the exclusion was gained",
            resembles: "Nango #2494: waiters that refresh again after the lock"
        ) { run in
            let opening = try await run.open()
            try await run.update(opening, .replace(run.credential("A")))
            let holder = run.start("the holder", opening, .success(.replace(run.credential("B"))), isHeld: true)
            try await run.waitUntilInside(holder)
            let waiter = run.start("the waiter", opening, .success(.keep))
            await run.giveTime()
            try await run.record(of: holder)
            try await run.record(of: waiter)
            try run.expect(waiter.seen.first ?? nil, is: "B", from: "the waiter's body")
        },

        StoreClause(
            "E4",
            .critical,
            "run the body of an update once",
            intent: "a body exchanges the refresh token: a second run spends the token twice",
            remedy: "repeat what can be repeated before the body or after it, never the body"
        ) { run in
            let opening = try await run.open()
            for (name, change) in [("A", CredentialChange.replace(run.credential("A"))), ("keep", .keep)] {
                let call = run.start("an update (\(name))", opening, .success(change))
                try await run.record(of: call)
                try run.expect(call.seen.count == 1, "one run of the body", observed: "\(call.seen.count) runs")
            }
        },

        StoreClause(
            "E5",
            .critical,
            "let every update in that waits, one after the other",
            intent: "an update that nobody wakes is a request that never ends",
            remedy: "wake the next waiter on every path out of an update"
        ) { run in
            let opening = try await run.open()
            let holder = run.start("the holder", opening, .success(.keep), isHeld: true)
            try await run.waitUntilInside(holder)
            let waiters = (1...20).map { number in
                run.start("waiter \(number)", opening, .success(.replace(run.credential("\(number)"))))
            }
            await run.giveTime()
            try await run.record(of: holder)
            for waiter in waiters { try await run.record(of: waiter) }
        },
    ]

    static let failures = [
        StoreClause(
            "F1",
            .critical,
            "write nothing when the body throws",
            intent: "a failed exchange must not cost the credential that still works",
            remedy: "write after the body has returned, and only then"
        ) { run in
            let opening = try await run.open()
            let before = try await run.update(opening, .replace(run.credential("A")))
            _ = try await run.result(of: run.start("who fails", opening, .failure(BodyError())))
            let after = try await run.load(opening)
            try run.expect(
                after?.version == before?.version && after?.credential.refreshToken == before?.credential.refreshToken,
                run.text(before),
                observed: run.text(after)
            )
        },

        StoreClause(
            "F2",
            .critical,
            "let the next body in after one that threw",
            intent: "one failed exchange would keep everybody out until the process ends",
            remedy: "end the exclusion on every path out of the body",
            resembles: "soto-core #708: one error poisons all later calls"
        ) { run in
            let opening = try await run.open()
            _ = try await run.result(of: run.start("who fails", opening, .failure(BodyError())))
            let next = run.start("the next one", opening, .success(.keep))
            try await run.waitUntilInside(next)
            try await run.record(of: next)
        },

        StoreClause(
            "F3",
            .serious,
            "throw what the body throws, unchanged",
            intent: "a refused refresh token and a full disk ask for different things",
            remedy: "pass the body's error on as it is"
        ) { run in
            let opening = try await run.open()
            let result = try await run.result(of: run.start("who fails", opening, .failure(BodyError())))
            guard case .failure(let error) = result, error is BodyError else {
                throw run.violation("the body's error", run.text(result), #line)
            }
        },
    ]
}

extension StoreRun {
    /// Starts updates that are held inside for a moment: an update that can come in beside another one does.
    fileprivate func overlap(_ openings: [Opening]) async throws {
        let calls = openings.enumerated().map { number, opening in
            start("caller \(number + 1)", opening, .success(.replace(credential("\(number + 1)"))), isHeld: true)
        }
        guard try await wait(until: { calls.contains { !$0.seen.isEmpty } }) else {
            throw violation("one of \(calls.count) callers to get inside", "all wait", #line)
        }
        await giveTime()
        for call in calls { call.exit.open() }
        // That all of them end is for E5 to judge.
        await comes { calls.allSatisfy { $0.result != nil } }
        try expectOneAtATime()
    }
}
