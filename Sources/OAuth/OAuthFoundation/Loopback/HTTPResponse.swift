package import Foundation

/// One answer, after which the connection closes; it must not be stored (RFC 6749, section 5.1).
package struct HTTPResponse: Hashable, Sendable {
    /// How much of the answer reaches the client, and when.
    package enum Delivery: Hashable, Sendable {
        case whole
        case late(by: TimeInterval)
        case half
        case none
        case never
    }

    package let status: Int
    package let body: String
    package let type: String
    /// Header fields beside those that every answer has.
    package var fields: [String] = []
    package var delivery = Delivery.whole

    package init(status: Int, json: String) {
        self.init(status: status, body: json, type: "application/json")
    }

    private init(status: Int, body: String, type: String) {
        self.status = status
        self.body = body
        self.type = type
    }

    /// A page without scripts, for which no other page can be a frame, and which tells no other server its address.
    package static func page(_ status: Int, _ html: String) -> HTTPResponse {
        var response = HTTPResponse(status: status, body: html, type: "text/html; charset=utf-8")
        response.fields = [
            // No form-action: browsers apply it to the redirect that follows a form as well.
            "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'",
            "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer",
        ]
        return response
    }

    /// An answer without a body.
    package static func empty(_ status: Int, delivery: Delivery = .whole) -> HTTPResponse {
        var response = HTTPResponse(status: status, body: "", type: "text/plain")
        response.delivery = delivery
        return response
    }

    /// Where a redirect leads.
    package private(set) var location: String?

    /// Sends the browser on; the location has no line break.
    package static func redirect(to location: String) -> HTTPResponse {
        var response = empty(303)
        response.location = location
        response.fields = ["Location: \(location)", "Referrer-Policy: no-referrer"]
        return response
    }

    /// What RFC 6749, section 5.2, calls an error response.
    package static func failure(_ status: Int, _ code: String) -> HTTPResponse {
        HTTPResponse(status: status, json: #"{"error":"\#(code)"}"#)
    }

    /// The answer as it is sent, without a reason phrase, which no client reads.
    package var bytes: [UInt8] {
        let head = [
            "HTTP/1.1 \(status) ",
            "Content-Type: \(type)",
            "Content-Length: \(body.utf8.count)",
            "Cache-Control: no-store",
            "Connection: close",
        ]
        return Array(((head + fields).joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }
}
