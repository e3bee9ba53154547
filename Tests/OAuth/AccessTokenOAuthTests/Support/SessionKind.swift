import AccessTokenAdapters
import AccessTokenContract
import AccessTokenOAuth
import AccessTokenSynchronization
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A session of either kind: one suite asks the same of both.
protocol TestedSession: Sendable {
    func data(for request: URLRequest) async throws -> (Data, URLResponse)
    func cancelRequests()
}

enum SessionKind: String, CaseIterable, Sendable {
    case async, callback

    /// A session on a service, or on a view of it.
    ///
    /// The clock counts the minute of a pause. It stands still: on a busy machine a test may take longer than that.
    func session(
        _ service: AsyncAccessTokenService,
        origins: [URL],
        configuration: URLSessionConfiguration = .keepingNothing,
        bodyLimit: Int = 64 << 20,
        allowsInsecureHTTP: Bool = false,
        isRejected: @escaping @Sendable (BearerReply) -> Bool = { $0.status == 401 },
        onRenewalPause: (@Sendable (RenewalPause) -> Void)? = nil,
        clock: any AccessTokenClock = ManualClock(),
        proofs: TokenProofs? = nil
    ) -> any TestedSession {
        switch self {
        case .async:
            AsyncBearerSession(
                tokens: service,
                origins: origins,
                configuration: configuration,
                bodyLimit: bodyLimit,
                allowsInsecureHTTP: allowsInsecureHTTP,
                isRejected: isRejected,
                onRenewalPause: onRenewalPause,
                clock: clock,
                proofs: proofs
            )
        case .callback:
            CallbackSession(
                base: BearerSession(
                    tokens: CallbackServiceAdapter(of: service),
                    origins: origins,
                    configuration: configuration,
                    bodyLimit: bodyLimit,
                    allowsInsecureHTTP: allowsInsecureHTTP,
                    isRejected: isRejected,
                    onRenewalPause: onRenewalPause,
                    clock: clock,
                    proofs: proofs
                )
            )
        }
    }
}

extension AsyncBearerSession: TestedSession {}

/// A callback session, each of whose requests is cancelled with the task that waits for it.
private struct CallbackSession: TestedSession {
    let base: BearerSession

    func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        let cancellation = Latch()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let retrieval = base.data(for: request) { continuation.resume(with: $0) }
                cancellation.whenFired { retrieval.cancel() }
            }
        } onCancel: {
            cancellation.fire()
        }
    }

    func cancelRequests() { base.cancelRequests() }
}

extension URLResponse {
    /// 0 for what is not HTTP.
    var status: Int { (self as? HTTPURLResponse)?.statusCode ?? 0 }
}
