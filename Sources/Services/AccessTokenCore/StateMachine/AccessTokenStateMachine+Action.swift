extension AccessTokenStateMachine {
    /// What a service has to do after an input; each input says what may be in its action.
    ///
    /// The service first publishes the token and has handlers called, as one step (D2, D9). The rest follows outside of
    /// the decision, since it calls what belongs to others.
    package struct Action: Sendable {
        package enum Callers: Sendable {
            case none
            /// The caller waits, and can be cancelled under this ID.
            case wait(Waiter.ID)
            /// One caller, or all who wait.
            case answer(Answer)
        }

        package enum LoaderCall: Sendable {
            /// Set the timer of the load's deadline, and ask the loader if ``AccessTokenStateMachine/loadBegins(_:)``
            /// says so.
            case load(Load)
            /// Cancel the load, if the loader's calls can be cancelled; its end is waited for all the same.
            case cancel(Load)
            /// Have the loader forget the session, and set the timer of the deadline for it. A load of the next session
            /// may run beside it.
            case forget(Forgetting.ID)
        }

        package var callers = Callers.none
        package var loader: [LoaderCall] = []
        /// The ends of sign-outs, to be called.
        package var signOutsDone: [@Sendable () -> Void] = []

        package init() {}

        static func answer(_ waiter: Waiter, _ result: LoadResult) -> Action {
            var action = Action()
            action.callers = .answer(Answer(to: waiter, result))
            return action
        }

        static func wait(_ id: Waiter.ID) -> Action {
            var action = Action()
            action.callers = .wait(id)
            return action
        }
    }
}
