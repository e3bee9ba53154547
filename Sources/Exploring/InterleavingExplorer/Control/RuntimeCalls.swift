/// Calls into the concurrency runtime that leave no job behind: looks at cancellation, cancellations, tasks and sleep.
///
/// Where a step of a run makes such a call, the run hears of it. All other callers get what the runtime says.
@available(Executors, *)
enum RuntimeCalls {
    /// Sees to it that the calls of all modules come by, and returns whether they do.
    ///
    /// They do not on Apple's platforms, and in a program that is linked statically. A search then says what it cannot
    /// see.
    static func comeBy() -> Bool {
        guard let redirections else { return false }
        return ImportTables.redirect(redirections).isDone
    }

    /// The functions of the runtime that have to do with cancellation and that this process refers to.
    static var ofCancellation: Set<String> {
        guard let redirections else { return [] }
        return ImportTables.redirect(redirections).namesOfCancellation
    }

    /// Those of them that do not come by.
    ///
    /// Such as the getter behind the key path `\.isCancelled`, which only the runtime calls, and what a newer runtime
    /// may have. A search in which a task is cancelled says then that it does not see all looks.
    static var unseenLooks: Set<String> {
        ofCancellation.subtracting(Names.ofCancellation)
    }

    // MARK: The functions of the runtime

    private typealias Look = @convention(thin) () -> Bool
    private typealias Check = @convention(thin) () throws -> Void
    /// Of a task or of a group.
    private typealias LookAt = @convention(thin) (UInt) -> Bool
    private typealias LookBeforeChild = @convention(thin) (_ group: UInt, _ isUnconditional: Bool) -> Bool
    private typealias Cancel = @convention(thin) (UInt) -> Void
    private typealias Create =
        @convention(thin) (_ flags: UInt, _ options: UInt, _ type: UInt, _ code: UInt, _ context: UInt) -> (UInt, UInt)

    /// What the runtime itself calls when a task sleeps: a timer of Dispatch, without a leeway and with one.
    private typealias After = @convention(c) (_ time: UInt64, _ queue: UInt, _ context: UInt, _ work: UInt) -> Void
    private typealias SetTimer = @convention(c) (_ source: UInt, _ time: UInt64, UInt64, _ leeway: UInt64) -> Void

    private struct Functions {
        let look: Look
        let lookAtTask: LookAt
        let lookAtGroup: LookAt
        let lookBeforeChild: LookBeforeChild
        let cancel: Cancel
        let cancelChildren: Cancel
        let create: Create
        let after: After
        let setTimer: SetTimer

        /// `nil` where the runtime does not show all of them.
        init?() {
            guard
                let look: Look = RuntimeSymbol.function(Names.look),
                let lookAtTask: LookAt = RuntimeSymbol.function("swift_task_isCancelled"),
                let lookAtGroup: LookAt = RuntimeSymbol.function("swift_taskGroup_isCancelled"),
                let lookBeforeChild: LookBeforeChild = RuntimeSymbol.function("swift_taskGroup_addPending"),
                let cancel: Cancel = RuntimeSymbol.function("swift_task_cancel"),
                let cancelChildren: Cancel = RuntimeSymbol.function("swift_taskGroup_cancelAll"),
                let create: Create = RuntimeSymbol.function("swift_task_create"),
                let after: After = RuntimeSymbol.function(Names.after),
                let setTimer: SetTimer = RuntimeSymbol.function(Names.setTimer)
            else { return nil }
            self.look = look
            self.lookAtTask = lookAtTask
            self.lookAtGroup = lookAtGroup
            self.lookBeforeChild = lookBeforeChild
            self.cancel = cancel
            self.cancelChildren = cancelChildren
            self.create = create
            self.after = after
            self.setTimer = setTimer
        }
    }

    /// How the linker calls what Swift code calls; each of the others is the same as one function of the runtime.
    private enum Names {
        /// `Task.isCancelled`, the static one.
        static let look = "$sScTss5NeverORszABRs_rlE11isCancelledSbvgZ"
        /// `Task.checkCancellation()`.
        static let check = "$sScTss5NeverORszABRs_rlE17checkCancellationyyKFZ"
        /// `isCancelled` of a task.
        static let lookAtTask = ["swift_task_isCancelled", "$sScT11isCancelledSbvg"]
        /// `isCancelled` of what `withUnsafeCurrentTask` gives.
        static let lookAtUnsafeTask = "$sSct11isCancelledSbvg"
        /// `isCancelled` of the four kinds of groups.
        static let lookAtGroup = [
            "swift_taskGroup_isCancelled", "$sScG11isCancelledSbvg", "$sScg11isCancelledSbvg",
            "$ss19DiscardingTaskGroupV11isCancelledSbvg", "$ss27ThrowingDiscardingTaskGroupV11isCancelledSbvg",
        ]
        /// `cancel()` of a task.
        static let cancel = ["swift_task_cancel", "$sScT6cancelyyF"]
        /// `cancel()` of what `withUnsafeCurrentTask` gives.
        static let cancelUnsafeTask = "$sSct6cancelyyF"
        /// `cancelAll()` of the four kinds of groups.
        static let cancelChildren = [
            "swift_taskGroup_cancelAll", "$sScG9cancelAllyyF", "$sScg9cancelAllyyF",
            "$ss19DiscardingTaskGroupV9cancelAllyyF", "$ss27ThrowingDiscardingTaskGroupV9cancelAllyyF",
        ]
        /// What needs no point of its own, see the page “What complete means”: `withTaskCancellationHandler` in its two
        /// forms with the pointers to them, and what it consists of.
        static let handlers = [
            "$ss27withTaskCancellationHandler9operation8onCancel9isolationxxyYaKXE_yyYbXEScA_pSgYitYaKlF",
            "$ss27withTaskCancellationHandler9operation8onCancel9isolationxxyYaKXE_yyYbXEScA_pSgYitYaKlFTu",
            "$ss27withTaskCancellationHandler9operation8onCancelxxyYaKXE_yyYbXEtYaKlF",
            "$ss27withTaskCancellationHandler9operation8onCancelxxyYaKXE_yyYbXEtYaKlFTu",
            "swift_task_addCancellationHandler", "swift_task_removeCancellationHandler",
        ]
        /// All of which enough is known.
        static let ofCancellation =
            [look, check, lookAtUnsafeTask, cancelUnsafeTask] + lookAtTask + lookAtGroup + cancel + cancelChildren
            + handlers

        static let after = "dispatch_after_f"
        static let setTimer = "dispatch_source_set_timer"
    }

    private static let functions = Functions()

    private static let after: After = { time, queue, context, work in
        ActiveRuns.onThisThread?.sleepsInRealTime()
        functions?.after(time, queue, context, work)
    }

    private static let setTimer: SetTimer = { source, time, interval, leeway in
        ActiveRuns.onThisThread?.sleepsInRealTime()
        functions?.setTimer(source, time, interval, leeway)
    }

    // MARK: What is called instead

    private static let look: Look = {
        guard let functions else { return false }
        return looking(at: nil) { functions.look() }
    }

    private static let check: Check = { if look() { throw CancellationError() } }

    private static let lookAtTask: LookAt = { task in
        guard let functions else { return false }
        return looking(at: task) { functions.lookAtTask(task) }
    }

    private static let lookAtGroup: LookAt = { group in
        guard let functions else { return false }
        return looking(at: nil) { functions.lookAtGroup(group) }
    }

    private static let lookBeforeChild: LookBeforeChild = { group, isUnconditional in
        guard let functions else { return false }
        if isUnconditional { return functions.lookBeforeChild(group, true) }
        return !looking(at: nil) { !functions.lookBeforeChild(group, false) }
    }

    private static let cancel: Cancel = { task in
        functions?.cancel(task)
        ActiveRuns.onThisThread?.hasCancelled()
    }

    /// Stands for `UnsafeCurrentTask`, whose members get its address as the `self` of methods, and not as an argument.
    ///
    /// A witness of a protocol gets it in the same way.
    private struct UnsafeTask: UnsafeTaskCalls {
        let task: UInt

        func look() -> Bool { RuntimeCalls.lookAtTask(task) }

        func cancel() { RuntimeCalls.cancel(task) }

        /// The addresses of the witnesses, which stand in the protocol's order behind the first word of their table.
        static let witnesses: (look: UInt, cancel: UInt) = {
            struct Existential { let value: any UnsafeTaskCalls }
            let standIn = Existential(value: UnsafeTask(task: 0))
            // Three words for the value, and one for its type, come before the table.
            let table = unsafe withUnsafeBytes(of: standIn) { unsafe $0.load(fromByteOffset: 32, as: UInt.self) }
            return (TaskStatus.word(table, 1), TaskStatus.word(table, 2))
        }()
    }

    private static let cancelChildren: Cancel = { group in
        functions?.cancelChildren(group)
        ActiveRuns.onThisThread?.hasCancelled()
    }

    private static let create: Create = { flags, options, type, code, context in
        guard let functions else { return (0, 0) }
        let (task, taskContext) = functions.create(flags, options, type, code, context)
        ActiveRuns.onThisThread?.hasCreated(taskAt: task)
        return (task, taskContext)
    }

    /// - Parameter task: the task that is looked at, if it is not the one that looks.
    private static func looking(at task: UInt?, _ look: () -> Bool) -> Bool {
        guard let run = ActiveRuns.onThisThread else { return look() }
        return run.looking(at: task, look)
    }

    private static let redirections: [ImportTables.Replacement]? = {
        guard functions != nil else { return nil }
        func redirections(_ names: [String], _ address: UInt, inRuntime: Bool = false) -> [ImportTables.Replacement] {
            names.map { ImportTables.Replacement(name: $0, address: address, isOfRuntime: inRuntime) }
        }
        return unsafe redirections([Names.look], unsafeBitCast(look, to: UInt.self))
            + redirections([Names.check], unsafeBitCast(check, to: UInt.self))
            + redirections(Names.lookAtTask, unsafeBitCast(lookAtTask, to: UInt.self))
            + redirections([Names.lookAtUnsafeTask], UnsafeTask.witnesses.look)
            + redirections([Names.cancelUnsafeTask], UnsafeTask.witnesses.cancel)
            + redirections(Names.lookAtGroup, unsafeBitCast(lookAtGroup, to: UInt.self))
            + redirections(["swift_taskGroup_addPending"], unsafeBitCast(lookBeforeChild, to: UInt.self))
            + redirections(Names.cancel, unsafeBitCast(cancel, to: UInt.self))
            + redirections(Names.cancelChildren, unsafeBitCast(cancelChildren, to: UInt.self))
            + redirections(["swift_task_create"], unsafeBitCast(create, to: UInt.self))
            + redirections([Names.after], unsafeBitCast(after, to: UInt.self), inRuntime: true)
            + redirections([Names.setTimer], unsafeBitCast(setTimer, to: UInt.self), inRuntime: true)
    }()
}

/// Not private, since the optimizer leaves out witnesses of private protocols that no code calls.
package protocol UnsafeTaskCalls {
    func look() -> Bool
    func cancel()
}
