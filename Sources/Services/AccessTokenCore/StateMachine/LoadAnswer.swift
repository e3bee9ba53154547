/// What a load brought, and what events say of its error.
package struct LoadAnswer: Sendable {
    let result: LoadResult
    let error: LoggedError?

    /// Runs the code of the error, which may do anything: not to be made in the middle of a decision.
    ///
    /// - Parameter isReported: whether anybody is told of events.
    package init(_ result: LoadResult, isReported: Bool) {
        self.result = result
        error = isReported ? LoggedError(result) : nil
    }
}
