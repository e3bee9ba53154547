import AccessTokenOAuth

extension StoreContract {
    static let exclusion = [
        StoreClause(
            ("E1", .critical),
            "run one body at a time",
            intent: "two exchanges of one refresh token look like theft, and the server signs the user out",
            remedy: "hold the exclusion from before the record is read until after the change is written"
        ) { run in
            try await run.overlap(Array(repeating: run.first, count: 20))
        },

        StoreClause(
            ("E2", .critical),
            "run one body at a time, by whichever opening",
            intent: "an app and its extension, or two commands at once, would sign each other out",
            remedy: "lock what all processes share, not an object of one process",
            resembles: "gcloud and aws-cli #10628: two commands at once break the stored session",
            needs: .openings
        ) { run in
            let openings = [run.first, try await run.open()]
            try await run.overlap(Array(repeating: openings, count: 10).flatMap(\.self))
        },

        StoreClause(
            ("E3", .critical),
            "show a body the record as it is inside, and not as it was when the update was called",
            intent: "a waiter that does not see what the one before it stored sends the spent refresh token",
            remedy: "read the record after the exclusion was gained",
            resembles: "Nango #2494: waiters that refresh again after the lock"
        ) { run in
            let other = try await run.otherOpening()
            try await run.save("A", by: other)
            try await run.update(.keep)
            try await run.update(.keep, by: other)
            let holder = try await run.holder(.replace(run.credential("B")))
            let waiter = run.start("the waiter", .keep, by: other)
            await run.giveTime()
            try await run.record(of: holder)
            try await run.record(of: waiter)
            try run.expect(waiter.seen.first ?? nil, is: "B", from: "the waiter's body")
        },

        StoreClause(
            ("E4", .critical),
            "run the body of an update once",
            intent: "a body exchanges the refresh token: a second run spends the token twice",
            remedy: "repeat what can be repeated before the body or after it, never the body"
        ) { run in
            for (name, change) in [("A", CredentialChange.replace(run.credential("A"))), ("keep", .keep)] {
                let call = run.start("an update (\(name))", change)
                try await run.record(of: call)
                try run.expect(call.seen.count == 1, "one run of the body", observed: "\(call.seen.count) runs")
            }
        },

        StoreClause(
            ("E5", .critical),
            "let every update in that waits, one after the other",
            intent: "an update that nobody wakes is a request that never ends",
            remedy: "wake the next waiter on every path out of an update"
        ) { run in
            // The ways out of an update, but for an error, which F2 judges.
            for (change, isCancelled) in [(CredentialChange.keep, false), (.remove, false), (.keep, true)] {
                let holder = try await run.holder(change)
                let waiters = (1...10).map { run.start("waiter \($0)", .replace(run.credential("\($0)"))) }
                await run.giveTime()
                if isCancelled { try await run.cancel(holder) }
                _ = try await run.result(of: holder)
                for waiter in waiters { try await run.record(of: waiter) }
            }
        },

        StoreClause(
            ("E6", .critical),
            "keep a newcomer out while one that has waited is inside",
            intent: "who waits has the lock of before, who comes has a new one, and both exchange the refresh token",
            remedy: "lock what no save replaces, and keep the lock for as long as anybody waits for it",
            resembles: "a lock on the file that a rename replaces; a lock that its holder drops from a map"
        ) { run in
            try await run.save("A")
            let (second, third) = (try await run.otherOpening(), try await run.otherOpening())
            let holder = try await run.holder(.replace(run.credential("B")))
            let waiter = run.start("the waiter", .replace(run.credential("C")), by: second, isHeld: true)
            await run.giveTime()
            try await run.record(of: holder)
            guard try await run.wait(until: { !waiter.seen.isEmpty }) else {
                throw run.violation("the waiter to get inside", "it waits")
            }
            let newcomer = run.start("the newcomer", .keep, by: third)
            await run.giveTime()
            try run.expect(newcomer.seen.isEmpty, "the newcomer to wait", observed: "it is inside beside the waiter")
            try await run.record(of: waiter)
            try await run.record(of: newcomer)
            try run.expect(newcomer.seen.first ?? nil, is: "C", from: "the newcomer's body")
        },

        StoreClause(
            ("L1", .critical),
            "write nothing of a body that has lost its exclusion, once another update has removed or replaced the record",
            intent: "a reply that comes after a sign-out would bring the session back",
            remedy: "write only if the version is still the one that the body has read, also after a removal",
            needs: .losesExclusion,
            runsAlone: true
        ) { run in
            let reply = CredentialChange.replace(run.credential("B"))
            // A late refusal would end the session that has begun meanwhile.
            let cases: [(String?, CredentialChange)] = [(nil, reply), ("C", reply), ("C", .remove)]
            for (name, change) in cases {
                try await run.save("A")
                let other = try await run.open()
                let late = try await run.holder(change)
                try await run.loseExclusion()
                try await run.update(.remove, by: other)
                if let name { try await run.save(name, by: other) }
                _ = try await run.result(of: late)
                try run.expect(try await run.load(other), is: name, from: "load after the late body's end")
                try run.expect(try await run.load(), is: name, from: "load by the late body's opening")
            }
        },

        StoreClause(
            ("F1", .critical),
            "write nothing when the body throws",
            intent: "a failed exchange must not cost the credential that still works",
            remedy: "write after the body has returned, and only then"
        ) { run in
            let before = try await run.save("A")
            _ = try await run.result(of: run.start("who fails", nil))
            let after = try await run.load()
            try run.expect(run.text(after) == run.text(before), run.text(before), observed: run.text(after))
        },

        StoreClause(
            ("F2", .critical),
            "let the next body in after one that threw",
            intent: "one failed exchange would keep everybody out until the process ends",
            remedy: "end the exclusion on every path out of the body",
            resembles: "soto-core #708: one error poisons all later calls"
        ) { run in
            let holder = try await run.holder(nil)
            let waiter = run.start("the waiter", .keep)
            await run.giveTime()
            _ = try await run.result(of: holder)
            try await run.record(of: waiter)
            try await run.update(.keep)
        },

        StoreClause(
            ("F3", .serious),
            "throw what the body throws, unchanged",
            intent: "a refused refresh token and a full disk ask for different things",
            remedy: "pass the body's error on as it is"
        ) { run in
            let result = try await run.result(of: run.start("who fails", nil))
            guard case .failure(let error) = result, error is BodyError else {
                throw run.violation("the body's error", run.text(result))
            }
        },
    ]
}

extension StoreRun {
    /// Starts updates that are held inside for a moment: an update that can come in beside another one does.
    fileprivate func overlap(_ openings: [Opening]) async throws {
        let calls = openings.enumerated().map { number, opening in
            start("caller \(number + 1)", .replace(credential("\(number + 1)")), by: opening, isHeld: true)
        }
        guard try await wait(until: { calls.contains { !$0.seen.isEmpty } }) else {
            throw violation("one of \(calls.count) callers to get inside", "all wait")
        }
        await giveTime()
        for call in calls { call.letGo() }
        // That all of them end is for E5 to judge.
        await comes { calls.allSatisfy { $0.result != nil } }
        try expect(overlap == nil, "one body at a time", observed: overlap ?? "")
    }
}
