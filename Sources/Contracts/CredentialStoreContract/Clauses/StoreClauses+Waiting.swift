import AccessTokenOAuth
import AccessTokenSynchronization

extension StoreContract {
    static let waiting = [
        StoreClause(
            ("R1", .serious),
            "answer load while a body runs, with the record as it was before",
            intent: "the start of an app must not wait for a slow server",
            remedy: "read without the exclusion, and replace the record in one step"
        ) { run in
            try await run.save("A")
            let other = try await run.otherOpening()
            let holder = try await run.holder(.replace(run.credential("B")))
            try run.expect(try await run.load(), is: "A", from: "load during the body")
            try run.expect(try await run.load(other), is: "A", from: "load by \(other.name) during the body")
            try await run.record(of: holder)
            try run.expect(try await run.load(), is: "B", from: "load after it")
        },

        StoreClause(
            ("R2", .critical),
            "never hand out half of a record, nor an older one than before",
            intent: "a record that is half written signs the user out",
            remedy: "write elsewhere, and put it in place in one step",
            resembles: "aws-cli #9632 and botocore #3213: JSON that is corrupt, since it is written in place"
        ) { run in
            try await run.save("0")
            let isOver = Locked(false)
            defer { isOver.withLock { $0 = true } }
            let changes = Locked(0)
            let read: @Sendable () async -> String? = {
                var last = 0
                while !isOver.withLock({ $0 }) {
                    let record: CredentialRecord?
                    do { record = try await run.first.store.load() } catch { return "\(type(of: error)): \(error)" }
                    let name = record?.credential.refreshToken?.split(separator: "-").last.map(String.init) ?? ""
                    if record?.credential.accessToken != run.credential(name).accessToken {
                        return "\(run.text(record)) with another one's access token"
                    }
                    if let version = record?.version, version < last { return "version \(version) after \(last)" }
                    if record?.version != last { changes.withLock { $0 += 1 } }
                    last = record?.version ?? last
                    await Task.yield()
                }
                return nil
            }
            let found = Locked<String??>(nil)
            Lane("the reader").start {
                let wrong = await read()
                isOver.withLock { $0 = true }
                found.withLock { $0 = .some(wrong) }
                run.log.check()
            }
            var updates = 0
            // On a busy machine the reader may not run for many updates. A store whose versions stand still has an end
            // too.
            while updates < 50 || changes.withLock({ $0 }) < 20 && updates < 5_000 && !isOver.withLock({ $0 }) {
                updates += 1
                try await run.save("\(updates)")
            }
            isOver.withLock { $0 = true }
            guard try await run.wait(until: { found.withLock { $0 != nil } }), let wrong = found.withLock({ $0 }) else {
                throw run.violation("load beside updates to return", "it does not")
            }
            try run.expect(wrong == nil, "whole records, each as new as the one before", observed: wrong ?? "")
        },

        StoreClause(
            ("W1", .serious),
            "tell an update that waits for longer than the limit that the store is busy",
            intent: "a peer that hangs must not hang everybody else for good",
            remedy: "give the wait for the exclusion an end, and throw CredentialStoreError.busy",
            needs: .waitLimit,
            setting: 0.2
        ) { run in
            let holder = try await run.holder()
            let waiter = run.start("the waiter", .keep)
            try await run.expect(waiter, endsWith: "CredentialStoreError.busy") { $0 as? CredentialStoreError == .busy }
            try await run.record(of: holder)
        },

        StoreClause(
            ("W2", .critical),
            "not run the body of an update that was told so",
            intent: "a body that runs without anybody knowing exchanges the refresh token",
            remedy: "take the update out of the queue before its error is thrown",
            needs: .waitLimit,
            setting: 0.2
        ) { run in
            let holder = try await run.holder()
            let waiter = run.start("the waiter", .replace(run.credential("A")))
            await run.comes { waiter.result != nil }
            try await run.expectExclusion(of: holder)
            await run.giveTime()
            guard let result = waiter.result, case .failure = result else { return }
            try run.expect(waiter.seen.isEmpty, "no run of the waiter's body", observed: "it was run")
            try run.expect(try await run.load(), is: nil, from: "load")
        },

        StoreClause(
            ("W4", .critical),
            "let the next update in after one that gave up because the store was busy",
            intent: "one call that gives up would keep everybody out until the process ends",
            remedy: "take the update out of the queue before its error is thrown, or pass a late turn on",
            needs: .waitLimit,
            setting: 0.2
        ) { run in
            let holder = try await run.holder()
            let waiter = run.start("the waiter", .keep)
            await run.comes { waiter.result != nil }
            _ = try await run.result(of: holder)
            // On a busy machine the place may be free a moment later, and the limit is short.
            for _ in 0..<5 {
                guard case .failure(let error) = try await run.result(of: run.start("somebody", .keep)),
                    error as? CredentialStoreError == .busy
                else { break }
            }
            try await run.update(.keep)
        },

        StoreClause(
            ("W3", .critical),
            "hold no thread while two hundred updates wait",
            intent: "the pool of tasks has one thread for each core: the holder itself could not go on",
            remedy: "suspend the task: try for the lock, sleep, try again"
        ) { run in
            let holder = try await run.holder()
            // A pool with one thread, and not that of the process, which others need.
            let pool = Lane("a pool with one thread")
            let waiters = (1...200).map { run.start("waiter \($0)", .keep, inPool: pool) }
            let hasRun = Locked(false)
            pool.start {
                hasRun.withLock { $0 = true }
                run.log.check()
            }
            let isFree = try await run.wait { hasRun.withLock { $0 } }
            holder.letGo()
            try run.expect(isFree, "a task of somebody else to run", observed: "the thread is blocked")
            // All of them have to be out of the place, which goes away with the run; E5 judges whether they get in.
            await run.comes { waiters.allSatisfy { $0.result != nil } }
        },

        StoreClause(
            ("X1", .critical),
            "write what a body stores although its task is cancelled meanwhile",
            intent: "the server rotated the refresh token when it answered, whether or not anybody listens",
            remedy: "do not look at the task's cancellation once the body runs",
            resembles: "ktor PR #5193: a cancellation loses the rotated token"
        ) { run in
            let holder = try await run.holder(.replace(run.credential("A")))
            try await run.cancel(holder)
            try await run.expectExclusion(of: holder)
            _ = try await run.record(of: holder)
            try run.expect(try await run.load(), is: "A", from: "load")
        },

        StoreClause(
            ("X2", .minor),
            "end the wait of a cancelled task at once, with CancellationError, and without its body",
            intent: "a process that is asked to end must not wait for another one's exchange",
            remedy: "wait in a cancellation handler",
            isConvention: true
        ) { run in
            let holder = try await run.holder()
            let waiter = run.start("the waiter", .keep)
            await run.giveTime()
            try await run.cancel(waiter)
            try await run.expect(waiter, endsWith: "CancellationError") { $0 is CancellationError }
            try await run.expectExclusion(of: holder)
            try run.expect(waiter.seen.isEmpty, "no run of the waiter's body", observed: "it was run")
        },

        StoreClause(
            ("X3", .critical),
            "let the next update in after one whose task was cancelled while it waited",
            intent: "one request that is given up would keep everybody out until the process ends",
            remedy: "take the update out of the queue before its error is thrown, or pass a late turn on"
        ) { run in
            let holder = try await run.holder()
            let waiter = run.start("the waiter", .keep)
            await run.giveTime()
            try await run.cancel(waiter)
            await run.comes { waiter.result != nil }
            _ = try await run.result(of: holder)
            try await run.update(.keep)
        },
    ]
}
