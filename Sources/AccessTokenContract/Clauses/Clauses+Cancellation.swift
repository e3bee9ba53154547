import AccessTokenAdapters

extension AccessTokenContract {
    static let cancellation = [
        ContractClause(
            "X1",
            "answer a cancelled waiter at once with CancellationError, and leave the others alone",
            intent: "a screen that closes must neither wait for a load nor fail another screen's",
            needs: .cancellation
        ) { trial in
            let token = trial.token("T1")
            let leader = trial.call("leader")
            let load = try await trial.load(1)
            let (joiner, stayer) = (trial.call("joiner"), trial.call("stayer"))
            await trial.settle()
            joiner.cancel()
            try await trial.expectCancelled(joiner)
            leader.cancel()
            try await trial.expectCancelled(leader)
            await trial.settle()
            try trial.expectWaiting(stayer)
            load.answer(.success(token))
            try await trial.expect(stayer, gets: token)
            try trial.expectLoads(1)
        },

        ContractClause(
            "X2",
            "never cancel a load because its waiters left (the rotated token would be lost); cache what it brings",
            intent: "the server rotated the refresh token when it answered, whether or not anybody listens",
            needs: .cancellation
        ) { trial in
            let token = trial.token("T1")
            let callers = trial.calls(2)
            let load = try await trial.load(1)
            for caller in callers {
                caller.cancel()
                try await trial.expectCancelled(caller)
            }
            await trial.settle()
            load.answer(.success(token))
            await trial.settle()
            try await trial.expect(trial.call("later caller"), gets: token)
            try trial.expectLoads(1)
        },

        ContractClause(
            "X3",
            "start no load for a caller that is cancelled already",
            intent: "a burst of cancelled work must not rotate tokens for nobody",
            needs: [.cancellation, .asyncCallers]
        ) { trial in
            let token = trial.token("T1")
            try await trial.expectCancelled(trial.call("cancelled caller", cancelledAlready: true))
            await trial.settle()
            try trial.expectLoads(0)
            let caller = trial.call("caller")
            try await trial.load(1).answer(.success(token))
            try await trial.expect(caller, gets: token)
            try trial.expectLoads(1)
        },
    ]
}
