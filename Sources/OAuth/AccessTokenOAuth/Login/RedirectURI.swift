import Foundation
import OAuthFoundation

/// Where the authorization server sends the browser when the user has decided (RFC 6749, section 3.1.2).
struct RedirectURI: Hashable, Sendable {
    /// As it is registered and sent, to the letter.
    let text: String
    private let place: Place
    private let parameters: [RedirectQuery.Parameter]

    /// What of a URL says where it leads, in one spelling.
    private struct Place: Hashable, Sendable {
        let scheme: String
        let user: String?
        let host: String
        let port: Int?
        let path: String

        init?(_ parts: URLComponents) {
            guard let scheme = parts.scheme?.lowercased() else { return nil }
            self.scheme = scheme
            user = parts.percentEncodedUser
            host = parts.percentEncodedHost?.lowercased() ?? ""
            port = parts.port ?? ["http": 80, "https": 443][scheme]
            // Servers and browsers add the slash, or leave it out: to HTTP both are the same (RFC 3986, section 6.2.3).
            path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        }
    }

    /// - Parameter allowsInsecureHTTP: whether plain HTTP may leave this machine.
    init(_ text: String, allowsInsecureHTTP: Bool) throws(LoginError) {
        guard let parts = URLComponents(string: text), let url = parts.url, let place = Place(parts) else {
            throw .unusable("the redirect URI is not an absolute URL")
        }
        guard parts.fragment == nil, parts.user == nil else {
            throw .unusable("the redirect URI has a fragment or a user name in it")
        }
        if place.scheme == "http" || place.scheme == "https" {
            guard allowsInsecureHTTP || WebOrigin(of: url)?.isProtected == true else {
                throw .unusable("the redirect URI is plain HTTP, and leaves this machine")
            }
        } else if ["javascript", "data", "file", "about", "blob"].contains(place.scheme) {
            throw .unusable("the scheme of the redirect URI is none that an app can have")
        }
        self.text = text
        self.place = place
        parameters = RedirectQuery(parts.percentEncodedQuery).parameters
    }

    /// The query of a URL that leads here; `nil` for any other URL.
    func query(of url: URL) -> RedirectQuery? {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true), Place(parts) == place else {
            return nil
        }
        return query(parts.percentEncodedQuery)
    }

    /// The query of a request to the listener of this very URI, as the browser has sent it; `nil` for another path.
    ///
    /// It is not made a `URL` first: browsers leave some characters raw, and `URL` would encode every `%` anew then.
    func query(ofTarget path: String, _ query: String?) -> RedirectQuery? {
        path == place.path ? self.query(query) : nil
    }

    private func query(_ text: String?) -> RedirectQuery? {
        let query = RedirectQuery(text)
        // A registered URI may have parameters of its own, which come back with the server's.
        return parameters.allSatisfy(query.parameters.contains) ? query : nil
    }
}

/// The parameters of a redirect, form-encoded (RFC 6749, section 4.1.2).
struct RedirectQuery: Hashable, Sendable {
    struct Parameter: Hashable, Sendable {
        let name: String
        /// `nil` if the escapes are broken, or are not UTF-8.
        let value: String?
    }

    let parameters: [Parameter]

    init(_ query: String?) {
        parameters = (query ?? "").split(separator: "&").compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = FormFields.decoded(parts[0].utf8) else { return nil }
            return Parameter(name: name, value: parts.count == 2 ? FormFields.decoded(parts[1].utf8) : "")
        }
    }

    /// The value of a parameter that came at most once; one without a value counts as missing.
    func value(_ name: String) throws(LoginError) -> String? {
        let found = parameters.filter { $0.name == name }
        guard found.count < 2 else { throw .badRedirect(name, "repeated") }
        guard let first = found.first else { return nil }
        guard let value = first.value else { throw .badRedirect(name, "not readable") }
        return value.isEmpty ? nil : value
    }
}
