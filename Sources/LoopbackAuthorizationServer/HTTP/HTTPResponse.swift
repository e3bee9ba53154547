/// One answer; every connection is closed after it.
struct HTTPResponse: Sendable {
    let status: Int
    var challenge: String?
    let json: String

    /// An answer that must not be stored: all of them speak of tokens (RFC 6749, section 5.1).
    init(_ status: Int, json: String, challenge: String? = nil) {
        self.status = status
        self.challenge = challenge
        self.json = json
    }

    /// What RFC 6749, section 5.2, calls an error response.
    static func failure(_ status: Int, _ code: String) -> HTTPResponse {
        HTTPResponse(status, json: #"{"error":"\#(code)"}"#)
    }

    var bytes: [UInt8] {
        var head = [
            "HTTP/1.1 \(status) \(reason)",
            "Content-Type: application/json",
            "Content-Length: \(json.utf8.count)",
            "Cache-Control: no-store",
            "Connection: close",
        ]
        if let challenge {
            head.append("WWW-Authenticate: \(challenge)")
        }
        return Array((head.joined(separator: "\r\n") + "\r\n\r\n" + json).utf8)
    }

    private var reason: String {
        switch status {
        case 200: "OK"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        default: "Unknown"
        }
    }
}
