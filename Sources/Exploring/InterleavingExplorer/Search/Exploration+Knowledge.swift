@available(Executors, *)
extension Exploration {
    /// What the search has found out that decides which schedules it may leave out.
    ///
    /// It only grows. Where it has grown, schedules were left out so far for a reason that does not hold here, and the
    /// search begins anew.
    struct Knowledge: Equatable, Sendable {
        /// Whether schedules are left out that can show nothing new.
        let reduces: Bool
        var steps: Schedule.Steps
        /// Whether the subject cancels tasks itself: any task may find itself cancelled.
        private(set) var watchesCancellation = false
        /// The places at which a step must not be held, since it has a lock there that others need.
        private(set) var lockSites: Set<Int> = []

        init(reduces: Bool, steps: Schedule.Steps) {
            self.reduces = reduces
            self.steps = steps
        }

        mutating func learn(from execution: Execution) {
            let findings = execution.findings
            // Where code in an actor asks for another one, the request itself can be too early or too late. Where the
            // subject cancels tasks, a task may be cancelled between a look and its request.
            if findings.asksInsideActors || findings.hasSubjectCancelled { steps.entersActorsLater = true }
            if findings.hasSubjectCancelled { watchesCancellation = true }
            lockSites.formUnion(execution.lockSites)
        }

        /// Lets others be in line before a task that an actor starts for itself.
        mutating func letOthersBeInLine() {
            steps.entersActorsLater = true
        }
    }
}
