public import AccessTokenAsync
import AccessTokenCore
public import AccessTokenSynchronization
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Sends requests with a token, for `async` code: `URLSession` with `Authorization: Bearer`, or `DPoP` (RFC 9449).
///
/// Give each module its own session, with its own time-outs and its own cancellation. All sessions share one service.
///
/// ```swift
/// let session = AsyncBearerSession(tokens: service, origins: [apiURL])
/// let (data, response) = try await session.data(for: URLRequest(url: friendsURL))
/// ```
///
/// After a 401, the session sends the request once more with the next token; not a body from a stream, which cannot be
/// sent again. The token goes to the session's origins only, by `https` or within this machine, and so do the redirects
/// that are followed: those of a `GET` or `HEAD`. A reply is read into memory up to a limit. See <doc:Requests>.
///
/// **Concurrency** Can be used from any thread.
///
/// **Cancellation** Throws `URLError.cancelled` at once. Cancelling a request affects no other request and no load. On
/// Linux the connection closes when the reply begins, or when the server has been silent for the configuration's
/// time-out.
///
/// **Failure** What the service or `URLSession` throws, unchanged; ``BearerSessionError``. A status is no error.
///
/// **On Linux** each request has a connection of its own. Of the requests whose callers still wait, at most
/// `httpMaximumConnectionsPerHost` are under way at once; the others wait. Time-outs count in whole seconds.
public final class AsyncBearerSession: Sendable {
    private let tokens: any AsyncAccessTokenProviding
    private let transport: BearerTransport
    private let proofs: TokenProofs?
    private let running = RunningRequests()

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - tokens: the service, or a view of one.
    ///   - origins: where the token may go; of each URL only scheme, host and port count.
    ///   - configuration: the session's own; it is copied without its cache, which would show the next user what the
    ///     former one has read. The cookies of `.default` are those of the whole app. `timeoutIntervalForRequest` and
    ///     `timeoutIntervalForResource` count for each attempt by itself, and not while the request waits for a token.
    ///   - bodyLimit: bytes of a reply that are read; more of them are ``BearerSessionError/bodyTooLong(limit:)``.
    ///   - allowsInsecureHTTP: whether the token may go to such an origin by plain `http`; on this machine it always
    ///     may.
    ///   - isRejected: recognises a reply that rejects the token: any 401, unless you say otherwise. A reply whose
    ///     ``BearerReply/error`` is `insufficient_user_authentication` (RFC 9470) is none, whatever you say; nor is one of
    ///     another status whose error is `insufficient_scope`.
    ///   - onRenewalPause: told when two renewals in a row changed nothing. For a minute, callers of that origin get a
    ///     rejection as it is, and no token is renewed for it.
    ///   - clock: wall clock.
    ///   - proofs: ``OAuthLoader/proofs`` of the service's loader: a token that is bound to a key goes as
    ///     `Authorization: DPoP` then, with a proof (RFC 9449). Without it every token goes as `Bearer`.
    ///   - challengeHandler: answers challenges of the session's connections, as ``TokenEndpoint/challengeHandler`` does:
    ///     for pinning, and for tokens that are bound to a certificate of the client (RFC 8705, section 3). On Linux
    ///     `URLSession` does not ask.
    public init(
        tokens: any AsyncAccessTokenProviding,
        origins: [URL],
        configuration: URLSessionConfiguration = .keepingNothing,
        bodyLimit: Int = 64 << 20,
        allowsInsecureHTTP: Bool = false,
        isRejected: @escaping @Sendable (BearerReply) -> Bool = { $0.status == 401 },
        onRenewalPause: (@Sendable (RenewalPause) -> Void)? = nil,
        clock: any AccessTokenClock = SystemClock(),
        proofs: TokenProofs? = nil,
        challengeHandler: URLAuthenticationChallengeHandler? = nil
    ) {
        self.tokens = tokens
        self.proofs = proofs
        transport = BearerTransport(
            origins: origins,
            allowsInsecureHTTP: allowsInsecureHTTP,
            configuration: configuration,
            bodyLimit: bodyLimit,
            rejections: RejectionSettings(isRejected: isRejected, onPause: onRenewalPause, clock: clock),
            proofs: proofs,
            challengeHandler: challengeHandler
        )
    }

    /// The reply to a request.
    public func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        if let refusal = transport.refusal(of: request) { throw refusal }
        let cancellation = running.begin()
        defer { running.end(cancellation) }
        // A task of its own, which the session can cancel as well as the caller.
        let task = Task { try await reply(to: request) }
        cancellation.whenFired { task.cancel() }
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch is CancellationError where task.isCancelled {
            throw URLError(.cancelled)
        }
    }

    /// Cancels the session's requests that are under way; other sessions and their loads go on.
    public func cancelRequests() {
        running.cancelAll()
    }

    private func reply(to request: URLRequest) async throws -> (Data, URLResponse) {
        let attempt = try await tokens.withToken(pausesRepeating: false) { (attempt: BearerTransport.Attempt) in
            attempt.next == .sendAgain
        } send: { token in
            let prover: Prover?
            do { prover = try await proofs?.prover(for: token) } catch { return transport.attempt(failedBy: error) }
            let attempt = await send(request, with: token, by: prover)
            if attempt.next == .invalidate { await tokens.invalidate(token) }
            return attempt
        }
        return try transport.answer(for: attempt.outcome).get()
    }

    private func send(
        _ request: URLRequest,
        with token: AccessToken,
        by prover: Prover?
    ) async -> BearerTransport.Attempt {
        let cancellation = Latch()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                transport.send(request, with: token, by: prover, until: cancellation) {
                    continuation.resume(returning: $0)
                }
            }
        } onCancel: {
            cancellation.fire()
        }
    }
}

extension AsyncBearerSession: CustomStringConvertible, CustomReflectable {
    /// Where the token may go; never a header field of the configuration.
    public var description: String { "AsyncBearerSession(\(transport.description))" }

    /// A mirror without the configuration: `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["origins": transport.description], displayStyle: .class) }
}
