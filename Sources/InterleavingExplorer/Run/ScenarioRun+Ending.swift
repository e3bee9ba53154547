extension ScenarioRun {
    /// Runs a task of the scenario itself to its end, in one piece.
    func complete(_ name: String, _ work: @escaping @Sendable () async throws -> Void) throws {
        let outcome = Protected<Result<Void, any Error>?>(nil)
        let participant = board.withLock { board in
            board.isRecording = false
            return board.addParticipant(name)
        }
        let task = startTask(of: participant) {
            do {
                try await work()
                outcome.withLock { $0 = .success(()) }
            } catch {
                outcome.withLock { $0 = .failure(error) }
            }
        }
        runInOrder(atMost: explorer.maximumSteps) { outcome.withLock { $0 != nil } }
        if let outcome = outcome.withLock({ $0 }) {
            try outcome.get()
        } else if escapes.wait(for: explorer.patience), let escape = escapes.first {
            board.withLock { $0.fail(.escape, "\(name): \(escape)") }
        } else {
            board.withLock { $0.fail(.lostWaiter, "\(name) waits for ever") }
        }
        task.cancel()
    }

    /// Checks the invariants at the end of a run that has not failed yet.
    func check() throws {
        board.withLock { $0.phase = .checking }
        for invariant in script.withLock(\.invariants) {
            guard board.withLock({ $0.failure == nil }) else { return }
            let name = "“\(invariant.name)”"
            do {
                let holds = Protected(false)
                try complete("the check of \(name)") {
                    let result = try await invariant.holds()
                    holds.withLock { $0 = result }
                }
                if !holds.withLock({ $0 }) {
                    board.withLock { $0.fail(.brokenInvariant, "\(name) does not hold") }
                }
            } catch {
                board.withLock { $0.fail(.brokenInvariant, "\(name) threw \(error)") }
            }
        }
    }

    /// Lets tasks that are left come to their ends as far as they can, and gives everything back.
    func conclude(_ drive: Drive) {
        board.withLock { board in
            board.isRecording = false
            board.isAbandoned = drive.isPruned || board.failure != nil
        }
        if board.withLock(\.isAbandoned) {
            runInOrder(atMost: 1000) { false }
        }
        let queues = board.withLock { board in
            board.phase = .over
            board.ready = []
            board.timers = []
            defer { board.suspendedQueues = [] }
            return board.suspendedQueues
        }
        for queue in queues {
            queue.giveBack()
        }
        script.withLock { $0 = Script() }
    }
}
