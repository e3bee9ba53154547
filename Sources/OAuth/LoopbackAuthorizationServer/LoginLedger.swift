import Foundation
import OAuthFoundation

/// The codes that the server has given out, to browsers and to devices, and what has become of them.
///
/// Pure: no clock, no sockets.
struct LoginLedger {
    /// An authorization request that was accepted (RFC 6749, section 4.1.1).
    struct Request: Hashable {
        let clientID: String
        let redirectURI: String
        let challenge: String
        /// Of the only key with which the code is good: `dpop_jkt` (RFC 9449, section 10).
        var thumbprint: String?
    }

    /// What a code is good for.
    enum Exchange: Hashable {
        case granted(user: String)
        /// It was exchanged before; `family` is what it brought then (RFC 6749, section 4.1.2).
        case spent(family: Int?)
        case refused
    }

    /// How a device's login stands (RFC 8628, section 3.5).
    enum DeviceState: Hashable {
        case pending
        case granted(user: String)
        case denied
        case spent
    }

    private struct Code {
        let request: Request
        let user: String
        let expiration: TimeInterval
        var isSpent = false
        var family: Int?
    }

    private struct Device {
        let clientID: String
        let userCode: String
        let expiration: TimeInterval
        var state = DeviceState.pending
        var lastPoll: TimeInterval?
    }

    /// Seconds: the most that RFC 6749, section 4.1.2, recommends.
    static let codeLifetime: TimeInterval = 600

    /// Without vowels, which make words, and without what looks like another letter (RFC 8628, section 6.1).
    private static let letters = Array("BCDFGHJKLMNPQRSTVWXZ")

    /// Seconds for which a pushed request can be opened (RFC 9126, section 2.2).
    static let pushLifetime: TimeInterval = 60

    private var codes: [String: Code] = [:]
    private var pushes: [String: (clientID: String, query: String, expiration: TimeInterval)] = [:]
    private var devices: [String: Device] = [:]

    /// A client has sent its request before the browser opens: a reference to it (RFC 9126, section 2.2).
    mutating func push(_ query: String, clientID: String, at now: TimeInterval) -> String {
        let reference = "urn:ietf:params:oauth:request_uri:" + LoginSecret.random()
        pushes[reference] = (clientID, query, now + Self.pushLifetime)
        return reference
    }

    /// The request that a reference stands for, for its own client and in time.
    func pushed(_ reference: String, clientID: String, at now: TimeInterval) -> String? {
        guard let push = pushes[reference], push.clientID == clientID, now < push.expiration else { return nil }
        return push.query
    }

    /// A reference is good for one decision (RFC 9126, section 4).
    mutating func spendPush(_ reference: String) { pushes[reference] = nil }

    /// The user agreed: a code for the redirect.
    ///
    /// - Parameter now: seconds by any clock that does not go back.
    mutating func code(for request: Request, user: String, at now: TimeInterval) -> String {
        let code = LoginSecret.random()
        codes[code] = Code(request: request, user: user, expiration: now + Self.codeLifetime)
        return code
    }

    /// Spends a code, if client, redirect URI and verifier are those of its request, and its time has not passed (RFC
    /// 6749, section 4.1.3; RFC 7636, section 4.6).
    mutating func exchange(
        _ code: String,
        clientID: String,
        redirectURI: String,
        verifier: String,
        thumbprint: String? = nil,
        at now: TimeInterval
    ) -> Exchange {
        guard let known = codes[code], known.request.clientID == clientID else { return .refused }
        guard !known.isSpent else { return .spent(family: known.family) }
        // A code is good for one attempt: a thief has no second one.
        codes[code]?.isSpent = true
        guard now < known.expiration, known.request.redirectURI == redirectURI,
            known.request.challenge == LoginSecret.challenge(of: verifier),
            known.request.thumbprint == nil || known.request.thumbprint == thumbprint
        else { return .refused }
        return .granted(user: known.user)
    }

    /// Keeps which family a code has brought.
    mutating func note(family: Int, of code: String) { codes[code]?.family = family }

    /// - Parameter expiration: seconds by any clock that does not go back.
    mutating func device(clientID: String, expiration: TimeInterval) -> (deviceCode: String, userCode: String) {
        let half = { String((0..<4).map { _ in Self.letters.randomElement() ?? "B" }) }
        let (deviceCode, userCode) = (LoginSecret.random(), half() + "-" + half())
        devices[deviceCode] = Device(clientID: clientID, userCode: userCode, expiration: expiration)
        return (deviceCode, userCode)
    }

    /// The user has decided on a device; says whether there is one that waits under this code, however it is written.
    mutating func decide(userCode: String, user: String?, at now: TimeInterval) -> Bool {
        func letters(_ code: String) -> String { code.uppercased().filter(\.isLetter) }
        let found = devices.first { device in
            letters(device.value.userCode) == letters(userCode) && device.value.state == .pending
                && now < device.value.expiration
        }
        guard let found else { return false }
        devices[found.key]?.state = user.map { .granted(user: $0) } ?? .denied
        return true
    }

    /// What the device is told: the error code, or the user.
    ///
    /// - Parameter interval: seconds between two requests at least.
    mutating func poll(
        _ deviceCode: String,
        clientID: String,
        interval: TimeInterval,
        at now: TimeInterval
    ) -> (user: String?, code: String) {
        guard let device = devices[deviceCode], device.clientID == clientID else { return (nil, "invalid_grant") }
        devices[deviceCode]?.lastPoll = now
        switch device.state {
        case .granted(let user):
            devices[deviceCode]?.state = .spent
            return (user, "")
        case .denied: return (nil, "access_denied")
        case .spent: return (nil, "invalid_grant")
        case .pending: break
        }
        guard now < device.expiration else { return (nil, "expired_token") }
        if let last = device.lastPoll, now - last < interval { return (nil, "slow_down") }
        return (nil, "authorization_pending")
    }
}
