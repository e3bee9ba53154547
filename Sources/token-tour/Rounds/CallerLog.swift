import AccessTokenGCD
import AccessTokenOAuth

/// What one kind of caller tells the recorder; tokens are named here, never shown.
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
