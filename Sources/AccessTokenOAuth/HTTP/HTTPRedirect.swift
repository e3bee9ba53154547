import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The request that a redirect asks for (RFC 9110, section 15.4).
struct HTTPRedirect {
    let request: URLRequest
    let dropsBody: Bool
    /// Whether scheme, host or port change.
    let leavesOrigin: Bool

    /// `nil` for a redirect that is not followed: it leads nowhere, or from `https` into the clear.
    init?(_ response: HTTPURLResponse, of request: URLRequest) {
        guard let url = request.url, let location = response.value(forHTTPHeaderField: "Location"),
            let target = URL(string: location, relativeTo: url)?.absoluteURL, let host = target.host(), !host.isEmpty,
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
}
