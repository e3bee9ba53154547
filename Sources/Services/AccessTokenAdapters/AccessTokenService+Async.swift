public import AccessTokenAsync
import AccessTokenCore
public import AccessTokenGCD
import AccessTokenSynchronization

extension AccessTokenService: AsyncAccessTokenProviding {
    /// A valid token; loads if it has to.
    ///
    /// Executor, cancellation and errors are those of ``AsyncAccessTokenService/token()``. At a load's deadline, the
    /// thread of all timers resumes the task: an executor whose `enqueue` blocks holds up the deadlines of all
    /// services.
    @inlinable
    public nonisolated(nonsending) func token() async throws -> AccessToken {
        if let token = freshToken { return token }
        return try await waitForToken()
    }

    @usableFromInline
    nonisolated(nonsending) func waitForToken() async throws -> AccessToken {
        let task = Suspension()
        let retrieval = retrieveToken(.task(task), isCancelled: Task.isCancelled)
        return try await withTaskCancellationHandler {
            try await task.answer()
        } onCancel: {
            retrieval.cancel()
        }
    }

    /// Ends the session (O1 and O3), and returns when the loader has forgotten it, also to a cancelled caller; see
    /// ``AccessTokenService/signOut(then:)``.
    public nonisolated(nonsending) func signOut() async {
        await withCheckedContinuation { continuation in
            endSession { continuation.resume() }
        }
    }
}
