/// What a load brings, and callers are answered with.
package typealias LoadResult = Result<AccessToken, any Error>

/// What a load brought, and what its error says.
package struct LoadAnswer: Sendable {
    let result: LoadResult
    let error: LoggedError?
    /// Why only a login helps, if the error says so.
    let need: LoginNeed?

    /// Runs the code of the error, which may do anything: not to be made in the middle of a decision.
    ///
    /// - Parameter isReported: whether anybody is told of events.
    package init(_ result: LoadResult, isReported: Bool) {
        self.result = result
        switch result {
        case .success: (error, need) = (nil, nil)
        case .failure(let error): (self.error, need) = (isReported ? LoggedError(error) : nil, LoginNeed(error))
        }
    }
}
