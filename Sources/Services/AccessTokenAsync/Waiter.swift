import AccessTokenCore

extension AsyncAccessTokenService {
    /// A caller that has to be answered: a suspended task, or a callback that an adapter passes in.
    // Safe: the list gives each waiter out once, so no continuation is resumed twice or never.
    @safe
    enum Waiter: Sendable {
        case task(UnsafeContinuation<AccessToken, any Error>)
        case handler(@Sendable (LoadResult) -> Void)

        func resumeTask(_ result: LoadResult) {
            if case .task(let continuation) = self { unsafe continuation.resume(with: result) }
        }

        /// To be called where the token is published, to keep the order of the answers.
        func callHandler(_ result: LoadResult) {
            if case .handler(let handler) = self { handler(result) }
        }
    }
}
