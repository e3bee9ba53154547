import AccessTokenAsync
import AccessTokenGCD
import AccessTokenOAuth
import ConsoleSupport

/// A caller with callbacks: gets a token, requests the resource, and tries once more after a 401.
struct CallbackCaller: Sendable {
    let service: any AccessTokenProviding
    let resource: ResourceClient
    let log: CallerLog

    func call(then handler: @escaping @Sendable (CallEnd) -> Void) {
        attempt(isSecond: false, then: handler)
    }

    private func attempt(isSecond: Bool, then handler: @escaping @Sendable (CallEnd) -> Void) {
        log.asks(again: isSecond)
        service.retrieveToken { result in
            switch result {
            case .success(let token):
                log.hears(token)
                use(token, isSecond: isSecond, then: handler)
            case .failure(let error):
                log.hears(error)
                handler(.noToken(error))
            }
        }
    }

    private func use(_ token: AccessToken, isSecond: Bool, then handler: @escaping @Sendable (CallEnd) -> Void) {
        log.sends(token)
        resource.request(with: token) { result in
            switch result {
            case .success(let reply):
                log.receives(reply, for: token)
                guard reply.status == 401, !isSecond else { return handler(.answered(reply.status)) }
                // The token that was sent: by now the service may have a newer one.
                log.rejects(token)
                service.invalidate(token)
                attempt(isSecond: true, then: handler)
            case .failure(let error):
                log.receives(error)
                handler(.unserved("\(error)"))
            }
        }
    }
}

/// The same caller as a task.
struct AsyncCaller: Sendable {
    let service: any AsyncAccessTokenProviding
    let resource: ResourceClient
    let log: CallerLog

    func call() async -> CallEnd {
        await attempt(isSecond: false)
    }

    private func attempt(isSecond: Bool) async -> CallEnd {
        log.asks(again: isSecond)
        do {
            let token = try await service.token()
            log.hears(token)
            return await use(token, isSecond: isSecond)
        } catch {
            log.hears(error)
            return .noToken(error)
        }
    }

    private func use(_ token: AccessToken, isSecond: Bool) async -> CallEnd {
        log.sends(token)
        do {
            let reply = try await resource.request(with: token)
            log.receives(reply, for: token)
            guard reply.status == 401, !isSecond else { return .answered(reply.status) }
            log.rejects(token)
            await service.invalidate(token)
            return await attempt(isSecond: true)
        } catch {
            log.receives(error)
            return .unserved("\(error)")
        }
    }
}

/// How a call ended.
enum CallEnd: Sendable {
    case served
    /// With the reason, in the same words for all callers that it applies to.
    case unserved(String)

    static func noToken(_ error: any Error) -> CallEnd { .unserved("no token, \(text(of: error))") }

    static func answered(_ status: Int) -> CallEnd {
        (200..<300).contains(status) ? .served : .unserved("the resource answered \(status)")
    }

    /// An error in a few words.
    static func text(of error: any Error) -> String {
        if error as? AccessTokenError == .signedOut { return "signed out" }
        guard let error = error as? OAuthError else { return "\(error)" }
        if let code = error.code { return code }
        if error == .timedOut { return "no reply in time" }
        if error.mayHaveBeenCarriedOut { return "connection lost" }
        return error.isTransient ? "server not available" : "reply not understood"
    }
}

/// Records the steps of callers.
///
/// Tokens appear by name, never by value.
struct CallerLog: Sendable {
    let lane: Lane
    let recorder: RoundRecorder
    /// The short name of a token's value.
    let name: @Sendable (String) -> String

    func asks(again: Bool) {
        recorder.record(.request(from: lane, to: .service, again ? "token? again" : "token?"))
    }

    func hears(_ token: AccessToken) {
        recorder.record(.answer(from: .service, to: lane, name(token.value)))
    }

    func hears(_ error: any Error) {
        recorder.record(.answer(from: .service, to: lane, CallEnd.text(of: error)))
    }

    func sends(_ token: AccessToken) {
        recorder.record(.request(from: lane, to: .server, "GET /resource, \(name(token.value))"))
    }

    func receives(_ reply: EndpointReply, for token: AccessToken) {
        recorder.record(.answer(from: .server, to: lane, "\(reply.status) for \(name(token.value))"))
    }

    func receives(_ error: any Error) {
        recorder.record(.answer(from: .server, to: lane, "\(error)"))
    }

    func rejects(_ token: AccessToken) {
        recorder.record(.request(from: lane, to: .service, "invalidate \(name(token.value))"))
    }
}
