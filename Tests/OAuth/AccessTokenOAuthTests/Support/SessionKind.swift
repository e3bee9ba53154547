import AccessTokenAdapters
import AccessTokenOAuth
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A session of either kind, so that one suite asks the same of both.
protocol TestedSession: Sendable {
    func data(for request: URLRequest) async throws -> (Data, URLResponse)
    func upload(for request: URLRequest, from bodyData: Data) async throws -> (Data, URLResponse)
    func upload(
        for request: URLRequest,
        from bodyData: Data,
        delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (Data, URLResponse)
    func upload(for request: URLRequest, fromFile fileURL: URL) async throws -> (Data, URLResponse)
    /// What was in the downloaded file.
    func contents(for request: URLRequest) async throws -> (Data, URLResponse)
    func invalidateAndCancel()
    func finishTasksAndInvalidate()
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

extension AsyncBearerSession: TestedSession {
    func contents(for request: URLRequest) async throws -> (Data, URLResponse) {
        let (url, response) = try await download(for: request)
        defer { try? FileManager.default.removeItem(at: url) }
        return (try Data(contentsOf: url), response)
    }
}

/// A callback session, each of whose tasks is cancelled with the task that waits for it.
private struct CallbackSession: TestedSession {
    typealias Handler = @Sendable (Data?, URLResponse?, (any Error)?) -> Void

    let base: BearerSession

    func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        try await reply { base.dataTask(with: request, completionHandler: $0) }
    }

    func upload(for request: URLRequest, from bodyData: Data) async throws -> (Data, URLResponse) {
        try await upload(for: request, from: bodyData, delegate: nil)
    }

    func upload(
        for request: URLRequest,
        from bodyData: Data,
        delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (Data, URLResponse) {
        try await reply { handler in
            let task = base.uploadTask(with: request, from: bodyData, completionHandler: handler)
            task.delegate = delegate
            return task
        }
    }

    func upload(for request: URLRequest, fromFile fileURL: URL) async throws -> (Data, URLResponse) {
        try await reply { base.uploadTask(with: request, fromFile: fileURL, completionHandler: $0) }
    }

    func contents(for request: URLRequest) async throws -> (Data, URLResponse) {
        try await reply { handler in
            base.downloadTask(with: request) { url, response, error in
                handler(url.flatMap { try? Data(contentsOf: $0) }, response, error)
            }
        }
    }

    func invalidateAndCancel() { base.invalidateAndCancel() }
    func finishTasksAndInvalidate() { base.finishTasksAndInvalidate() }

    private func reply(_ task: (@escaping Handler) -> BearerSessionTask) async throws -> (Data, URLResponse) {
        let (replies, answer) = AsyncStream.makeStream(of: Result<(Data, URLResponse), any Error>.self)
        let task = task { data, response, error in
            if let data, let response {
                answer.yield(.success((data, response)))
            } else {
                answer.yield(.failure(error ?? URLError(.unknown)))
            }
        }
        task.resume()
        return try await withTaskCancellationHandler {
            // A task of its own: the loop would not wait for the handler when it is cancelled.
            let first = Task { await replies.first { _ in true } }
            guard let result = await first.value else { throw URLError(.unknown) }
            return try result.get()
        } onCancel: {
            task.cancel()
        }
    }
}

extension URLResponse {
    /// 0 for what is not HTTP.
    var status: Int { (self as? HTTPURLResponse)?.statusCode ?? 0 }
}
