import AccessTokenCore
public import AccessTokenGCD
public import AccessTokenSynchronization
public import Dispatch
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Sends requests with a token, for callback code: `URLSession` with `Authorization: Bearer`, or `DPoP` (RFC
/// 9449).
///
/// It does what ``AsyncBearerSession`` does, and sessions of both kinds can share one service.
///
/// ```swift
/// let session = BearerSession(tokens: service, origins: [apiURL], handlerQueue: .main)
/// session.data(for: URLRequest(url: friendsURL)) { result in … }
/// ```
///
/// **Concurrency** Can be used from any thread. Handlers are called one at a time, on a serial queue that targets
/// `handlerQueue`; never before ``data(for:then:)`` or `cancel()` has returned to code on that queue.
///
/// **Cancellation** `cancel()` of what ``data(for:then:)`` returns answers at once with `URLError.cancelled`.
///
/// **Failure** As of an ``AsyncBearerSession``. Each handler is called once, also if the session is dropped.
public final class BearerSession: Sendable {
    private let tokens: any AccessTokenProviding
    private let transport: BearerTransport
    private let proofs: TokenProofs?
    private let running = RunningRequests()
    private let handlerQueue: DispatchQueue

    /// Creates a session that calls handlers on `handlerQueue`; all else is as for an ``AsyncBearerSession``.
    public init(
        tokens: any AccessTokenProviding,
        origins: [URL],
        configuration: URLSessionConfiguration = .keepingNothing,
        bodyLimit: Int = 64 << 20,
        handlerQueue: DispatchQueue = .global(),
        allowsInsecureHTTP: Bool = false,
        isRejected: @escaping @Sendable (BearerReply) -> Bool = { $0.status == 401 },
        onRenewalPause: (@Sendable (RenewalPause) -> Void)? = nil,
        clock: any AccessTokenClock = SystemClock(),
        proofs: TokenProofs? = nil,
        challengeHandler: URLAuthenticationChallengeHandler? = nil
    ) {
        self.tokens = tokens
        self.proofs = proofs
        self.handlerQueue = DispatchQueue(label: "BearerSession.handlers", target: handlerQueue)
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

    /// The reply to a request, which is sent at once; what it returns cancels the request.
    @discardableResult
    public func data(
        for request: URLRequest,
        then handler: @escaping @Sendable (Result<(Data, URLResponse), any Error>) -> Void
    ) -> AccessTokenRetrieval {
        let cancellation = running.begin()
        let answer = OneShot<Result<(Data, URLResponse), any Error>>(
            abandoned: .failure(AccessTokenError.requestAbandoned)
        ) { [handlerQueue, running] result in
            running.end(cancellation)
            handlerQueue.async { handler(result) }
        }
        if let refusal = transport.refusal(of: request) {
            answer(.failure(refusal))
            return .answered
        }
        cancellation.whenFired { answer(.failure(URLError(.cancelled))) }
        let retrieval = tokens.withToken(pausesRepeating: false) { (attempt: BearerTransport.Attempt) in
            attempt.next == .sendAgain
        } send: { [transport, tokens, proofs] token, reply in
            let send = { @Sendable (prover: Prover?) in
                transport.send(request, with: token, by: prover, until: cancellation) { attempt in
                    if attempt.next == .invalidate { tokens.invalidate(token) }
                    reply(.success(attempt))
                }
            }
            guard let proofs else { return send(nil) }
            proofs.prover(for: token) { prover in
                switch prover {
                case .success(let prover): send(prover)
                case .failure(let error): reply(.success(transport.attempt(failedBy: error)))
                }
            }
        } then: { [transport] result in
            answer(result.flatMap { transport.answer(for: $0.outcome) })
        }
        cancellation.whenFired { retrieval.cancel() }
        return AccessTokenRetrieval { cancellation.fire() }
    }

    /// Cancels the session's requests that are under way; other sessions and their loads go on.
    public func cancelRequests() {
        running.cancelAll()
    }
}

extension BearerSession: CustomStringConvertible, CustomReflectable {
    /// Where the token may go; never a header field of the configuration.
    public var description: String { "BearerSession(\(transport.description))" }

    /// A mirror without the configuration: `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["origins": transport.description], displayStyle: .class) }
}
