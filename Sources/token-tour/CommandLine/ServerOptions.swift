import AccessTokenOAuth
import Foundation

/// A server of the user's own, and what the tour needs to be its client, in types that print no secret.
struct ServerOptions: Sendable {
    enum Name: String, CaseIterable, Sendable {
        case server = "--server"
        case resource = "--resource"
        case clientID = "--client-id"
        case refreshToken = "--refresh-token"
        case clientAuth = "--client-auth"
    }

    let endpoint: TokenEndpoint
    let resource: URL
    /// The credential that our set-ups hand on to each other; `nil` if none of them runs.
    let credential: Credential?
    /// Those of the naive set-ups, who lose theirs.
    let naiveCredentials: [SetUpName: Credential]
    /// In the order in which they run: the naive ones last, in case that the harm they do goes beyond their session.
    let setUps: [SetUpName]
    let printsRefreshToken: Bool

    init(
        _ given: [Name: [String]],
        chosen: [SetUpName],
        printsRefreshToken: Bool,
        secret: String
    ) throws(UsageError) {
        func value(_ name: Name) throws(UsageError) -> String {
            guard let values = given[name] else { throw .missingOption(name.rawValue) }
            guard values.count == 1 else { throw .repeated(name.rawValue) }
            return values[0]
        }
        let url = try Self.url(.server, value(.server))
        resource = try Self.url(.resource, value(.resource))
        let method = given[.clientAuth] == nil ? "none" : try value(.clientAuth)
        endpoint = TokenEndpoint(
            url,
            authentication: try Self.authentication(method, clientID: value(.clientID), secret: secret)
        )
        guard let tokens = given[.refreshToken] else { throw .missingOption(Name.refreshToken.rawValue) }
        guard Set(tokens).count == tokens.count else { throw .sameRefreshToken }
        let candidates = chosen.isEmpty ? SetUpName.allCases : SetUpName.allCases.filter(chosen.contains)
        let ours = candidates.filter(\.isOurs)
        var rest = tokens[...]
        credential = ours.isEmpty ? nil : rest.popFirst().map { Credential(refreshToken: $0) }
        let naive = candidates.filter { !$0.isOurs }
        guard rest.count <= naive.count else { throw .tooManyRefreshTokens }
        if !chosen.isEmpty, rest.count < naive.count { throw .missingRefreshToken(naive[rest.count]) }
        let pairs = zip(naive, rest).map { ($0, Credential(refreshToken: $1)) }
        naiveCredentials = Dictionary(uniqueKeysWithValues: pairs)
        setUps = ours + pairs.map(\.0)
        self.printsRefreshToken = printsRefreshToken
    }

    private static func authentication(
        _ method: String,
        clientID: String,
        secret: String
    ) throws(UsageError) -> ClientAuthentication {
        guard ["none", "basic", "basic-raw", "post"].contains(method) else { throw .unknownClientAuth }
        guard method == "none" || !secret.isEmpty else { throw .missingSecret(method) }
        switch method {
        case "basic": return .basic(clientID: clientID, secret: secret)
        case "basic-raw": return .basicRaw(clientID: clientID, secret: secret)
        case "post": return .postBody(clientID: clientID, secret: secret)
        default: return .none(clientID: clientID)
        }
    }

    /// What is sent there are secrets: nobody on the way may read them.
    private static func url(_ name: Name, _ text: String) throws(UsageError) -> URL {
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), let host = url.host(), !host.isEmpty,
            scheme == "https" || scheme == "http"
        else { throw .badURL(name.rawValue) }
        let isLoopback = ["localhost", "::1", "[::1]"].contains(host) || host.wholeMatch(of: /127(\.\d+){3}/) != nil
        guard scheme == "https" || isLoopback else { throw .insecureURL(name.rawValue) }
        return url
    }
}
