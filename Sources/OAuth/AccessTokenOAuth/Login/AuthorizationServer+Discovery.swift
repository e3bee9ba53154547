public import AccessTokenSynchronization
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension AuthorizationServer {
    /// Reads a server's metadata (RFC 8414; OpenID Connect Discovery 1.0).
    ///
    /// The metadata must name this very issuer, to the letter, and endpoints that are `https`; on this machine plain
    /// HTTP is as good, if the issuer is there as well. A reply is kept in memory for as long as its header fields say,
    /// a day at most.
    ///
    /// **Cancellation** Ends the request at once.
    ///
    /// **Failure** ``LoginError``. Redirects are not followed; a reply may have a megabyte, and take 15 seconds.
    ///
    /// - Parameters:
    ///   - issuer: the server's name for itself: what is before `/.well-known/` in the address of its metadata.
    ///   - allowsInsecureHTTP: whether plain HTTP may leave this machine: for a test network only.
    ///   - configuration: a proxy, for example; it is copied.
    ///   - clock: wall clock and timers.
    public static func discover(
        _ issuer: URL,
        allowsInsecureHTTP: Bool = false,
        configuration: URLSessionConfiguration? = nil,
        clock: any AccessTokenClock = SystemClock()
    ) async throws -> AuthorizationServer {
        let discovery = ServerDiscovery(
            allowsInsecureHTTP: allowsInsecureHTTP,
            configuration: configuration,
            clock: clock
        )
        return try await discovery.server(issuer)
    }
}

/// Finds a server's metadata, at one of the places where servers have it.
struct ServerDiscovery {
    var allowsInsecureHTTP = false
    var configuration: URLSessionConfiguration?
    var clock: any AccessTokenClock = SystemClock()
    var cache = MetadataCache.shared

    private static let bodyLimit = 1 << 20
    private static let timeLimit: TimeInterval = 15

    /// What one place came to; the worst errors say least.
    private enum Finding {
        case server(AuthorizationServer, lifetime: TimeInterval)
        case error(LoginError, rank: Int)
    }

    func server(_ issuer: URL) async throws -> AuthorizationServer {
        let places = try places(of: issuer)
        let key = MetadataCache.Key(issuer: issuer.absoluteString, allowsInsecureHTTP: allowsInsecureHTTP)
        if let known = cache.server(key, at: clock.now) { return known }
        var errors: [(error: LoginError, rank: Int)] = []
        for place in places {
            let reply: HTTPReply
            switch await ask(place) {
            case .success(let whole): reply = whole
            case .failure(let failure):
                // Whoever cancelled knows.
                try Task.checkCancellation()
                let error = LoginError.failed(.metadata, OAuthError(failure, at: clock.now))
                // What does not answer here does not answer at the next place of the same host.
                guard failure.hasAnswer else { throw error }
                errors.append((error, 3))
                continue
            }
            switch finding(in: reply, of: issuer) {
            case .error(let error, let rank): errors.append((error, rank))
            case .server(let server, let lifetime):
                cache.keep(server, as: key, until: clock.now.addingTimeInterval(lifetime), at: clock.now)
                return server
            }
        }
        throw errors.max { $0.rank < $1.rank }?.error ?? .badMetadata("there is no metadata")
    }

    /// RFC 8414, section 3.1; OpenID Connect Discovery, section 4.1; and what RFC 8414, section 5, makes of that.
    private func places(of issuer: URL) throws(LoginError) -> [URL] {
        guard let origin = WebOrigin(of: issuer), issuer.query == nil, issuer.fragment == nil else {
            throw .unusable("the issuer is not a URL of a server, or has a user name, a query or a fragment in it")
        }
        guard allowsInsecureHTTP || origin.isProtected else { throw .unusable("the issuer is not https") }
        var base = issuer.absoluteString
        if base.hasSuffix("/") { base.removeLast() }
        guard !base.contains("/.well-known/") else {
            throw .unusable("the issuer is the part of the address before /.well-known/")
        }
        let path = (URLComponents(string: base)?.percentEncodedPath ?? "")
        let host = String(base.dropLast(path.count))
        var texts = [
            host + "/.well-known/oauth-authorization-server" + path, base + "/.well-known/openid-configuration",
        ]
        if !path.isEmpty { texts.append(host + "/.well-known/openid-configuration" + path) }
        return texts.compactMap { URL(string: $0) }
    }

    private func ask(_ place: URL) async -> Result<HTTPReply, HTTPFailure> {
        var request = URLRequest(url: place)
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        let own = configuration?.copy() as? URLSessionConfiguration ?? .ephemeral
        own.keepNothing()
        own.timeoutIntervalForRequest = Self.timeLimit
        own.timeoutIntervalForResource = Self.timeLimit
        let answer = OutstandingExchange<Result<HTTPReply, HTTPFailure>>()
        let exchange = HTTPExchange(request, bodyLimit: Self.bodyLimit) { answer.settle($0) }
        return await withTaskCancellationHandler {
            exchange.start(over: HTTPConnections(own), by: clock)
            let abandoned = HTTPFailure(cause: URLError(.unknown), response: nil, hasSentBody: false)
            return await answer.reply(within: nil, by: clock) ?? .failure(abandoned)
        } onCancel: {
            exchange.abandon()
        }
    }

    private func finding(in reply: HTTPReply, of issuer: URL) -> Finding {
        let response = reply.response
        switch response.statusCode {
        case 200: break
        case 429, 500...599:
            let seconds = TokenEndpointReply(reply, at: clock.now).retryAfter
            let error = OAuthError.unavailable(status: response.statusCode, retryAfter: seconds)
            return .error(.failed(.metadata, error), rank: 3)
        case 300...399: return .error(.failed(.metadata, .redirected(status: response.statusCode)), rank: 1)
        default: return .error(.badMetadata("the server has no metadata for this issuer"), rank: 0)
        }
        // Many servers answer any path with a page.
        guard let members = JSONMembers(of: reply.body) else {
            return .error(.badMetadata("what the server has in place of metadata is not a JSON object"), rank: 2)
        }
        do throws(LoginError) {
            let server = try server(members, of: issuer)
            return .server(server, lifetime: lifetime(of: TokenEndpointReply(reply, at: clock.now)))
        } catch {
            return .error(error, rank: 4)
        }
    }

    /// RFC 8414, sections 2 and 3.3.
    func server(_ members: JSONMembers, of issuer: URL) throws(LoginError) -> AuthorizationServer {
        guard case .text(let named) = members["issuer"] else { throw .badMetadata("the metadata names no issuer") }
        guard named == issuer.absoluteString else {
            throw .wrongIssuer(expected: issuer.absoluteString, found: SentSecrets([]).readable(named))
        }
        return AuthorizationServer(
            issuer: issuer,
            authorizationURL: try endpoint("authorization_endpoint", members, of: issuer),
            tokenURL: try endpoint("token_endpoint", members, of: issuer),
            deviceAuthorizationURL: try endpoint("device_authorization_endpoint", members, of: issuer),
            revocationURL: try endpoint("revocation_endpoint", members, of: issuer),
            pushedAuthorizationURL: try endpoint("pushed_authorization_request_endpoint", members, of: issuer),
            requiresPushedRequests: members["require_pushed_authorization_requests"] == .flag(true),
            proofAlgorithms: members.texts("dpop_signing_alg_values_supported"),
            sendsIssuer: members["authorization_response_iss_parameter_supported"] == .flag(true),
            allowsInsecureHTTP: allowsInsecureHTTP
        )
    }

    private func endpoint(
        _ name: String,
        _ members: JSONMembers,
        of issuer: URL
    ) throws(LoginError) -> URL? {
        switch members[name] {
        case nil, .null, .text(""): return nil
        case .text(let text):
            guard let url = URL(string: text), let origin = WebOrigin(of: url), url.fragment == nil else {
                throw .badMetadata("the \(name) of the metadata is not a URL of a server")
            }
            // A server elsewhere must not send secrets to what listens on this machine.
            let isLocal = origin.isProtected && issuer.scheme?.lowercased() == "http"
            guard origin.scheme == "https" || isLocal || allowsInsecureHTTP else {
                throw .badMetadata("the \(name) of the metadata is not https")
            }
            return url
        default: throw .badMetadata("the \(name) of the metadata is not text")
        }
    }

    /// Seconds for which the reply may be kept (RFC 9111, section 4.2.1); 0 where the server does not say.
    private func lifetime(of reply: TokenEndpointReply) -> TimeInterval {
        func field(_ name: String) -> String { reply.header(name)?.lowercased() ?? "" }
        let directives = field("Cache-Control").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        guard !directives.contains(where: { $0.hasPrefix("no-store") || $0.hasPrefix("no-cache") }) else { return 0 }
        let age = RetryAfter.number(field("Age")) ?? 0
        if let limit = directives.first(where: { $0.hasPrefix("max-age=") })?.dropFirst(8) {
            guard limit.utf8.allSatisfy({ (48...57).contains($0) }), let seconds = TimeInterval(limit) else { return 0 }
            return max(0, min(seconds - age, MetadataCache.longest))
        }
        // A number there is no date, and counts as the past (RFC 9111, section 5.3).
        let expires = reply.header("Expires") ?? ""
        return expires.contains(":") ? reply.seconds(until: expires) ?? 0 : 0
    }
}
