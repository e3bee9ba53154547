import AccessTokenAdapters
import AccessTokenOAuth
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
    func session(
        _ service: AsyncAccessTokenService,
        origins: [URL],
        configuration: URLSessionConfiguration = .keepingNothing,
        bodyLimit: Int = AsyncBearerSession.usualBodyLimit,
        allowsInsecureHTTP: Bool = false
    ) -> any TestedSession {
        switch self {
        case .async:
            AsyncBearerSession(
                tokens: service,
                origins: origins,
                configuration: configuration,
                bodyLimit: bodyLimit,
                allowsInsecureHTTP: allowsInsecureHTTP
            )
        case .callback:
            CallbackSession(
                base: BearerSession(
                    tokens: CallbackServiceAdapter(of: service),
                    origins: origins,
                    configuration: configuration,
                    bodyLimit: bodyLimit,
                    allowsInsecureHTTP: allowsInsecureHTTP
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
        let (replies, answer) = AsyncStream.makeStream(of: Result<(Data, URLResponse), any Error>.self)
        let retrieval = base.data(for: request) { answer.yield($0) }
        return try await withTaskCancellationHandler {
            // A task of its own: the loop would not wait for the handler when it is cancelled.
            let first = Task { await replies.first { _ in true } }
            guard let result = await first.value else { throw URLError(.unknown) }
            return try result.get()
        } onCancel: {
            retrieval.cancel()
        }
    }

    func cancelRequests() { base.cancelRequests() }
}

extension URLResponse {
    /// 0 for what is not HTTP.
    var status: Int { (self as? HTTPURLResponse)?.statusCode ?? 0 }
}
