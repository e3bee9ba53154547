import AccessTokenCore
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Decides what happens to one request of a caller; carries nothing out.
///
/// Each input returns what is to be done next. Errors of the service and of the connection are no input: they go to the
/// caller, and nothing comes after them.
struct BearerStateMachine: Sendable {
    private static let mostRedirects = 20

    private let rules: BearerRules
    /// As the caller made it, or as the last redirect has it; never with a token in it.
    private var request: URLRequest
    private var upload: HTTPUpload
    /// What goes out with the request; `nil` before it is there, and for ever after a redirect to another origin.
    private var token: AccessToken?
    private var rejection: HTTPReply?
    private var hasBeenRepeated = false
    private var redirects = 0

    init(_ request: URLRequest, uploading upload: HTTPUpload = .ofRequest, by rules: BearerRules) {
        self.request = request
        self.upload = upload
        self.rules = rules
        guard upload != .ofRequest else { return }
        self.request.httpBody = nil
        self.request.httpBodyStream = nil
    }

    /// The caller wants its reply.
    mutating func start() -> BearerAction {
        rules.refusal(of: request).map { .fail($0) } ?? .retrieveToken
    }

    /// The service has a valid token.
    mutating func tokenRetrieved(_ token: AccessToken) -> BearerAction {
        // URLRequest takes such a value without a word, and sends the one that was there before.
        guard rules.canSend(token) else { return .fail(BearerSessionError.unsendableToken) }
        self.token = token
        return send()
    }

    /// The server has replied to what was sent; of a 401 and a redirect the head is enough.
    mutating func replied(_ reply: HTTPReply) -> BearerAction {
        switch reply.response.statusCode {
        case 401:
            // A second one is not about the token's age. To invalidate the new one as well would have each request to
            // a server that wants none of our tokens cost two loads.
            guard let token, !hasBeenRepeated else { return finish(reply) }
            rejection = reply
            return .invalidate(token)
        case 301, 302, 303, 307, 308:
            return redirected(reply)
        default:
            // Among them 403: this token is good, and not good enough (RFC 6750, section 3.1).
            return finish(reply)
        }
    }

    /// The service knows that the token was rejected.
    mutating func invalidated() -> BearerAction {
        let rejection = self.rejection.take()
        if let rejection, !canBeSentAgain { return finish(rejection) }
        hasBeenRepeated = true
        return .retrieveToken
    }

    /// A stream is used up by being sent.
    private var canBeSentAgain: Bool { request.httpBodyStream == nil }

    /// What goes to the caller is a whole reply, or the reason why there is none.
    private func finish(_ reply: HTTPReply) -> BearerAction {
        reply.failure.map { .fail($0) } ?? .finish(reply)
    }

    private func send() -> BearerAction {
        guard let token else { return .send(request, upload) }
        var request = request
        request.setValue("Bearer \(token.value)", forHTTPHeaderField: "Authorization")
        return .send(request, upload)
    }

    private mutating func redirected(_ reply: HTTPReply) -> BearerAction {
        guard let redirect = HTTPRedirect(reply.response, of: request) else { return finish(reply) }
        guard redirect.dropsBody || canBeSentAgain else { return finish(reply) }
        redirects += 1
        guard redirects <= Self.mostRedirects else { return .fail(URLError(.httpTooManyRedirects)) }
        request = redirect.request
        if redirect.dropsBody { upload = .ofRequest }
        // Not even if a later redirect leads back: by then it is not the caller who says what is asked for.
        if redirect.leavesOrigin { token = nil }
        return send()
    }
}

/// What a session has to do next for a request.
enum BearerAction: Sendable {
    /// Ask the service for a token, and say `tokenRetrieved`.
    case retrieveToken
    /// Send this as it is, and say `replied`.
    case send(URLRequest, HTTPUpload)
    /// Tell the service that this token was rejected, and say `invalidated`.
    case invalidate(AccessToken)
    /// Give the reply to the caller, and nothing more.
    case finish(HTTPReply)
    /// Give the error to the caller, and nothing more.
    case fail(any Error)
}

/// The request that a redirect asks for (RFC 9110, section 15.4).
struct HTTPRedirect {
    let request: URLRequest
    let dropsBody: Bool
    /// Whether scheme, host or port change.
    let leavesOrigin: Bool

    /// `nil` for a redirect that is not followed: it leads nowhere, or from `https` into the clear.
    init?(_ response: HTTPURLResponse, of request: URLRequest) {
        guard let url = request.url, let location = response.value(forHTTPHeaderField: "Location"),
            let target = Self.target(of: location, from: url), let host = target.host(), !host.isEmpty,
            let scheme = target.scheme?.lowercased(), ["http", "https"].contains(scheme),
            scheme == "https" || url.scheme?.lowercased() == "http"
        else { return nil }
        leavesOrigin = WebOrigin(of: target) == nil || WebOrigin(of: target) != WebOrigin(of: url)
        let method = request.httpMethod ?? "GET"
        // As browsers do it: 303 asks for something else, and 301 and 302 mean that for a POST.
        dropsBody =
            response.statusCode == 303 && method != "HEAD"
            || [301, 302].contains(response.statusCode) && method == "POST"
        var next = request
        next.url = target
        if dropsBody {
            next.httpMethod = "GET"
            next.httpBody = nil
            next.httpBodyStream = nil
            for name in ["Content-Type", "Content-Length", "Content-Encoding", "Content-Language"] {
                next.setValue(nil, forHTTPHeaderField: name)
            }
        }
        if leavesOrigin { next.setValue(nil, forHTTPHeaderField: "Cookie") }
        self.request = next
    }

    /// The URL that a redirect leads to.
    ///
    /// What no URL can have is encoded, and what is encoded stays as it is: `URL` would encode that once more (RFC 3986,
    /// section 2.4).
    private static func target(of location: String, from url: URL) -> URL? {
        // A host has rules of its own, such as brackets around an IPv6 address.
        var start = location.startIndex
        let scheme = location.prefix { !"/?#".contains($0) }
        if scheme.isEmpty || scheme.last == ":", location[scheme.endIndex...].hasPrefix("//") {
            start = location[scheme.endIndex...].dropFirst(2).firstIndex { "/?#".contains($0) } ?? location.endIndex
        }
        let parts = location[start...].split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let rest = parts.map { encoded($0) }.joined(separator: "#")
        return URL(string: location[..<start] + rest, relativeTo: url)?.absoluteURL
    }

    /// What a path, a query or a fragment can have as it is (RFC 3986, section 3.3).
    private static let unencoded = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/?".utf8
    )

    private static func encoded(_ text: Substring) -> String {
        let bytes = Array(text.utf8)
        var result = ""
        for (index, byte) in bytes.enumerated() {
            let digits = bytes[(index + 1)...].prefix(2)
            let isEncoded =
                byte == UInt8(ascii: "%") && digits.count == 2
                && digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
            if isEncoded || unencoded.contains(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result += FormEncoding.percentEncoded(byte)
            }
        }
        return result
    }
}
