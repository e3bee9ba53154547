import AccessTokenAsync

/// Many tasks that wait for one load.
enum AsyncWaiters {
    /// From the first task's start to the last one's end, all on one thread; and the heap while all of them wait.
    ///
    /// The load is under way already: its start is no waiter's price.
    static func onOneThread<Design: WaiterDesign>(_: Design.Type, count: Int) -> Sample {
        let loop = LoopExecutor(capacity: count)
        let design = Design(executor: loop)
        let finished = Countdown(count)
        Task(executorPreference: loop) { _ = try await design.wait() }
        loop.drain()
        let before = Heap.bytesInUse
        let parking = Stopwatch()
        for _ in 0..<count {
            Task(executorPreference: loop) {
                _ = try await design.wait()
                finished.signal()
            }
        }
        loop.drain()
        var nanoseconds = parking.nanoseconds
        let bytes = Heap.bytesInUse.flatMap { after in before.map { (after - $0) / Double(count) } }
        let answering = Stopwatch()
        design.finish()
        loop.drain()
        nanoseconds += answering.nanoseconds
        precondition(finished.isZero, "a waiter of \(Design.name) was not answered")
        return Sample(nanoseconds: nanoseconds / Double(count), bytes: bytes)
    }

    /// The same on the global pool, with as many threads as there are processors.
    static func onPool<Design: WaiterDesign>(_: Design.Type, count: Int) -> Sample {
        let design = Design(executor: nil)
        let started = Countdown(count)
        let finished = Countdown(count)
        let watch = Stopwatch()
        for _ in 0..<count {
            Task.detached {
                started.signal()
                _ = try await design.wait()
                finished.signal()
            }
        }
        started.wait()
        design.finish()
        finished.wait()
        return watch.sample(per: count)
    }

    /// The same with all of them on the main actor, where an app's screens are.
    @MainActor
    static func onMainActor<Design: WaiterDesign>(_: Design.Type, count: Int) async -> Sample {
        let design = Design(executor: nil)
        let started = Countdown(count)
        let finished = Countdown(count)
        let watch = Stopwatch()
        for _ in 0..<count {
            Task { @MainActor in
                started.signal()
                _ = try await design.wait()
                finished.signal()
            }
        }
        while !started.isZero { await Task.yield() }
        design.finish()
        while !finished.isZero { await Task.yield() }
        return watch.sample(per: count)
    }

    /// Only the end: from the first cancellation to the last cancelled task's end.
    static func cancelled<Design: WaiterDesign>(_: Design.Type, count: Int) -> Sample {
        let loop = LoopExecutor(capacity: count)
        let design = Design(executor: loop)
        let finished = Countdown(count)
        let tasks = (0..<count).map { _ in
            Task(executorPreference: loop) {
                do { _ = try await design.wait() } catch { finished.signal() }
            }
        }
        loop.drain()
        let watch = Stopwatch()
        for task in tasks { task.cancel() }
        loop.drain()
        let sample = watch.sample(per: count)
        precondition(finished.isZero, "a cancelled waiter of \(Design.name) was not answered")
        design.finish()
        loop.drain()
        return sample
    }
}
