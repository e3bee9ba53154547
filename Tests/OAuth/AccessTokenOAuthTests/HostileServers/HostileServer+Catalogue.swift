import Foundation

extension HostileServer {
    static let catalogue =
        interim + noHTTP + statuses + refusals + successes + unusual + framing + redirects + challenges + slow

    private static let gone: Resource = .error([.badServerResponse, .networkConnectionLost])
    private static let ok = tokens("A1", "RT1")
    private static let html = "<!doctype html><title>Sign in to the network</title>"

    /// Interim responses (RFC 9110, section 15.2) before the real one, or in its place.
    private static let interim = [
        HostileServer("100, then a token", .token, .status(200), .interim(100), .token),
        HostileServer("102, then a token", .token, .status(200), .interim(102), .token),
        HostileServer("103, then a token", .token, .status(200), .interim(103, "Link: </a>; rel=preload"), .token),
        HostileServer("100 in a packet of its own", .token, .status(200), .interim(100), .pause, .token),
        HostileServer(
            "103 three times, 102, 100, then a token",
            .token,
            .status(200),
            .interim(103),
            .interim(103),
            .interim(103),
            .interim(102),
            .interim(100),
            .token
        ),
        HostileServer(
            "a thousand times 100, then a token",
            .token,
            .status(200),
            .send(String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 1000)),
            .token
        ),
        HostileServer(
            "100, then 401 invalid_client",
            .configuration,
            .rejected,
            .interim(100),
            .reply(401, #"{"error":"invalid_client"}"#)
        ),
        HostileServer(
            "100, then 401 with a Basic challenge",
            .configuration,
            .rejected,
            .interim(100),
            .reply(401, #"{"error":"invalid_client"}"#, #"WWW-Authenticate: Basic realm="as""#)
        ),
        HostileServer(
            "100, then 400 invalid_grant",
            .signIn,
            .status(400),
            .interim(100),
            .reply(400, #"{"error":"invalid_grant"}"#)
        ),
        HostileServer(
            "103, then 302",
            .configuration,
            .error([.httpTooManyRedirects]),
            .interim(103),
            .reply(302, "", "Location: /resource")
        ),
        HostileServer(
            "100, then 503 with Retry-After",
            .later(after: 7),
            .status(503),
            .interim(100),
            .reply(503, "", "Retry-After: 7")
        ),
        HostileServer("100, then nothing", .onceAgain, gone, .interim(100)),
        HostileServer("101, then nothing", .onceAgain, gone, .interim(101, "Upgrade: x", "Connection: upgrade")),
    ]

    /// What is no HTTP; the request was read all the same, so that it may have been carried out.
    private static let noHTTP = [
        HostileServer("nothing at all", .onceAgain, gone),
        HostileServer("a line of text", .onceAgain, .anyError, .send("this is not HTTP\r\n\r\n")),
        HostileServer("HTML without a head (HTTP/0.9)", .onceAgain, .anyError, .send(html)),
        HostileServer("zeros", .onceAgain, .anyError, .bytes([UInt8](repeating: 0, count: 100))),
        HostileServer("a greeting of SSH", .onceAgain, .anyError, .send("SSH-2.0-OpenSSH_9.6\r\n")),
        HostileServer("a greeting of a mail server", .onceAgain, .anyError, .send("220 mail ready\r\n")),
        HostileServer("an alert of TLS", .onceAgain, .anyError, .bytes([0x15, 3, 3, 0, 2, 2, 0x28])),
        HostileServer(
            "a frame of HTTP/2",
            .onceAgain,
            .anyError,
            .bytes([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100])
        ),
        HostileServer("a status that is no number", .onceAgain, .anyError, .send("HTTP/1.1 abc OK\r\n\r\n")),
        HostileServer(
            "a version that does not exist",
            .onceAgain,
            .anyError,
            .send("HTTP/3.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        ),
    ]

    /// Statuses that speak for themselves, whatever the body says.
    private static let statuses = [
        HostileServer("500 with HTML", .later(after: nil), .status(500), .reply(500, html)),
        HostileServer(
            "500 that says invalid_grant",
            .later(after: nil),
            .status(500),
            .reply(500, #"{"error":"invalid_grant"}"#)
        ),
        HostileServer("501", .later(after: nil), .status(501), .reply(501, "")),
        HostileServer("502", .onceAgain, .status(502), .reply(502, html)),
        HostileServer("503", .onceAgain, .status(503), .reply(503, html)),
        HostileServer("503 with Retry-After", .later(after: 2), .status(503), .reply(503, "", "Retry-After: 2")),
        HostileServer(
            "503 with a Retry-After of no sense",
            .onceAgain,
            .status(503),
            .reply(503, "", "Retry-After: tomorrow")
        ),
        HostileServer("504", .onceAgain, .status(504), .reply(504, html)),
        HostileServer("520", .onceAgain, .status(520), .reply(520, html)),
        HostileServer("524", .onceAgain, .status(524), .reply(524, html)),
        HostileServer("429 with Retry-After", .later(after: 60), .status(429), .reply(429, "", "Retry-After: 60")),
        HostileServer("429 for ever", .later(after: nil), .status(429), .reply(429, "", "Retry-After: 99999999")),
        HostileServer("408", .later(after: nil), .status(408), .reply(408, "")),
        HostileServer("204", .notUnderstood, .status(204), .send("HTTP/1.1 204 No\r\nConnection: close\r\n\r\n")),
        HostileServer("206 with a token", .token, .status(206), .reply(206, ok)),
        HostileServer("304", .configuration, .status(304), .send("HTTP/1.1 304 No\r\nConnection: close\r\n\r\n")),
        HostileServer("418 with HTML", .notUnderstood, .status(418), .reply(418, html)),
        HostileServer("999", .notUnderstood, .status(999), .reply(999, "")),
        HostileServer("600 with a token", .notUnderstood, .status(600), .reply(600, ok)),
    ]

    private static let refusals = [
        HostileServer("400 with nothing in it", .notUnderstood, .status(400), .reply(400, "")),
        HostileServer("403 invalid_grant", .signIn, .status(403), .reply(403, #"{"error":"invalid_grant"}"#)),
        HostileServer("400 with an error that is a number", .notUnderstood, .status(400), .reply(400, #"{"error":7}"#)),
        HostileServer(
            "400 with an error that is an object",
            .notUnderstood,
            .status(400),
            .reply(400, #"{"error":{"code":"invalid_grant"}}"#)
        ),
        HostileServer(
            "400 that repeats the refresh token as its code",
            .configuration,
            .status(400),
            .reply(400, #"{"error":"RT0-secret","error_description":"RT0-secret"}"#)
        ),
        HostileServer(
            "400 that says that it is busy",
            .later(after: nil),
            .status(400),
            .reply(400, #"{"error":"temporarily_unavailable"}"#)
        ),
        HostileServer(
            "200 with the refusal of RFC 6749",
            .signIn,
            .status(200),
            .reply(200, #"{"error":"invalid_grant"}"#)
        ),
        HostileServer(
            "200 with GitHub's refusal",
            .signIn,
            .status(200),
            .reply(200, #"{"error":"bad_refresh_token","error_description":"incorrect or expired","error_uri":"x"}"#)
        ),
        HostileServer(
            "200 with Slack's refusal",
            .signIn,
            .status(200),
            .reply(200, #"{"ok":false,"error":"invalid_refresh_token"}"#)
        ),
        HostileServer(
            "200 with a refusal of the client",
            .configuration,
            .status(200),
            .reply(200, #"{"error":"incorrect_client_credentials"}"#)
        ),
        HostileServer(
            "200 that says that it is busy",
            .later(after: nil),
            .status(200),
            .reply(200, #"{"error":"server_error"}"#)
        ),
        HostileServer(
            "200 with a refusal and a refresh token",
            .rescued,
            .status(200),
            .reply(200, #"{"error":"invalid_grant","refresh_token":"RT1"}"#)
        ),
    ]

    private static let successes = [
        HostileServer("a page of a captive portal", .notUnderstood, .status(200), .reply(200, html)),
        HostileServer("an empty body", .notUnderstood, .status(200), .reply(200, "")),
        HostileServer("an empty object", .notUnderstood, .status(200), .reply(200, "{}")),
        HostileServer("an array", .notUnderstood, .status(200), .reply(200, "[\(ok)]")),
        HostileServer("JSON that stops", .notUnderstood, .status(200), .reply(200, String(ok.dropLast(3)))),
        HostileServer("bytes that are no text", .notUnderstood, .status(200), .reply(200, "\u{0}\u{1}\u{FFFD}")),
        HostileServer(
            "JSON that is very deep",
            .notUnderstood,
            .status(200),
            .reply(200, #"{"a":"# + String(repeating: "[", count: 100_000))
        ),
        HostileServer(
            "a token beside a member that is deep",
            .token,
            .status(200),
            .reply(
                200,
                #"{"x":\#(String(repeating: "[", count: 200) + String(repeating: "]", count: 200)),"#
                    + String(ok.dropFirst())
            )
        ),
        HostileServer(
            "a token of another type",
            .rescued,
            .status(200),
            .reply(200, #"{"access_token":"A1","token_type":"DPoP","refresh_token":"RT1"}"#)
        ),
        HostileServer(
            "an access token with a line break",
            .rescued,
            .status(200),
            .reply(200, #"{"access_token":"A\r\nX-Evil: 1","token_type":"Bearer","refresh_token":"RT1"}"#)
        ),
        HostileServer(
            "a refresh token with a line break",
            .notUnderstood,
            .status(200),
            .reply(200, #"{"access_token":"A1","token_type":"Bearer","refresh_token":"RT\n1"}"#)
        ),
        HostileServer(
            "a refresh token alone",
            .rescued,
            .status(200),
            .reply(200, #"{"refresh_token":"RT1"}"#)
        ),
        HostileServer(
            "a lifetime beyond all numbers",
            .token,
            .status(200),
            .reply(200, #"{"access_token":"A1","token_type":"bEARER","expires_in":1e400,"refresh_token":"RT1"}"#)
        ),
        HostileServer(
            "a token as text/html in another character set",
            .token,
            .status(200),
            .reply(200, ok, "Content-Type: text/html; charset=utf-16")
        ),
    ]

    /// What nobody forbids, and few servers do.
    private static let unusual = [
        HostileServer(
            "a reply of HTTP/1.0 without a length",
            .token,
            .status(200),
            .send("HTTP/1.0 200 OK\r\n\r\n" + ok)
        ),
        HostileServer("an empty reason", .token, .status(200), .send("HTTP/1.1 200 \r\n\r\n" + ok)),
        // RFC 9112, section 4, wants the space; URLSession on Linux does as well.
        HostileServer("no space for a reason", .onceAgain, .anyError, .send("HTTP/1.1 200\r\n\r\n" + ok)),
        HostileServer(
            "a field in another character set",
            .onceAgain,
            .anyError,
            .bytes(Array("HTTP/1.1 200 OK\r\nX-Name: ".utf8) + [0xE9] + Array("\r\n\r\n\(ok)".utf8))
        ),
        // Trailer fields end the process on Linux; see the limit in the threat model.
        HostileServer(
            "chunks with extensions",
            .token,
            .status(200),
            .framed(
                "Transfer-Encoding: chunked",
                body: "1;a=b\r\n{\r\n\(String(ok.utf8.count - 1, radix: 16))\r\n\(ok.dropFirst())\r\n0\r\n\r\n"
            )
        ),
        HostileServer(
            "more than its length says",
            .token,
            .status(200),
            .framed("Content-Length: \(ok.utf8.count)", body: ok + "HTTP/1.1 400 Bad\r\n\r\n")
        ),
        HostileServer(
            "a field of a megabyte",
            .onceAgain,
            .anyError,
            .framed("X-Field: \(String(repeating: "x", count: 1 << 20))", body: ok)
        ),
        HostileServer("JSON behind a byte order mark", .token, .status(200), .reply(200, "\u{FEFF}" + ok)),
        HostileServer(
            "JSON in UTF-16",
            .token,
            .status(200),
            .framed("Content-Length: \(2 * ok.utf16.count)", body: ""),
            .bytes(ok.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
        ),
        HostileServer(
            "a member twice",
            .token,
            .status(200),
            .reply(200, #"{"access_token":"A1","scope":"a","scope":"b","refresh_token":"RT1"}"#)
        ),
        HostileServer(
            "a type with a space behind it",
            .token,
            .status(200),
            .reply(200, #"{"access_token":"A1","token_type":"bearer ","refresh_token":"RT1"}"#)
        ),
        HostileServer(
            "an error without a letter beside a token",
            .token,
            .status(200),
            .reply(200, #"{"error":"","access_token":"A1","refresh_token":"RT1"}"#)
        ),
        HostileServer(
            "a token inside of another object",
            .notUnderstood,
            .status(200),
            .reply(200, #"{"data":\#(ok)}"#)
        ),
        HostileServer("a line in front of the JSON", .notUnderstood, .status(200), .reply(200, ")]}',\n" + ok)),
        HostileServer(
            "429 with a Retry-After in the past",
            .later(after: 0),
            .status(429),
            .reply(429, "", "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT")
        ),
        HostileServer(
            "407 of a proxy",
            .notUnderstood,
            .status(407),
            .reply(407, html, #"Proxy-Authenticate: Basic realm="proxy""#)
        ),
        HostileServer(
            "401 whose body never ends",
            .tooLong,
            .tooLong,
            .send("HTTP/1.1 401 No\r\nConnection: close\r\n\r\n"),
            .flood(String(repeating: "x", count: 1 << 16))
        ),
    ]

    /// What is wrong below the body.
    private static let framing = [
        HostileServer("a body that is cut", .onceAgain, .anyError, .framed("Content-Length: 1000", body: ok)),
        HostileServer(
            "chunks that stop",
            .onceAgain,
            .anyError,
            .framed("Transfer-Encoding: chunked", body: "5\r\n{\"acc")
        ),
        HostileServer(
            "a chunk whose size is none",
            .onceAgain,
            .anyError,
            .framed("Transfer-Encoding: chunked", body: "zz\r\n{}\r\n0\r\n\r\n")
        ),
        HostileServer("a negative length", .onceAgain, .anyError, .framed("Content-Length: -5", body: ok)),
        HostileServer(
            "two lengths",
            .onceAgain,
            .anyError,
            .framed("Content-Length: 2", "Content-Length: 3000", body: ok)
        ),
        HostileServer(
            "a length of ten gigabytes",
            .tooLong,
            .tooLong,
            .framed("Content-Length: 10000000000", body: ok),
            .silence
        ),
        HostileServer(
            "gzip that is none",
            .onceAgain,
            .anyError,
            .framed("Content-Encoding: gzip", "Content-Length: \(ok.utf8.count)", body: ok)
        ),
        HostileServer(
            "an encoding that nobody knows",
            .onceAgain,
            .anyError,
            .framed("Content-Encoding: x-none", "Content-Length: \(ok.utf8.count)", body: ok)
        ),
        HostileServer(
            "a gzip bomb",
            .tooLong,
            .tooLong,
            .framed("Content-Encoding: gzip", "Connection: close", body: ""),
            .bytes(GzipBomb.bytes(growingTo: 64 << 20))
        ),
        HostileServer(
            "a body without end",
            .tooLong,
            .tooLong,
            .framed("Connection: close", body: ""),
            .flood(String(repeating: " ", count: 1 << 16))
        ),
        HostileServer(
            "half a megabyte of header fields",
            .onceAgain,
            .anyError,
            .framed(
                String(repeating: "X-Field: \(String(repeating: "x", count: 1000))\r\n", count: 500) + "X: 1",
                body: ok
            )
        ),
        HostileServer(
            "a field without a colon",
            .onceAgain,
            .anyError,
            .framed("X-Field", "Content-Length: \(ok.utf8.count)", body: ok)
        ),
        HostileServer(
            "a folded field",
            .token,
            .status(200),
            .framed("X-Field: a", " b", "Content-Length: \(ok.utf8.count)", body: ok)
        ),
        HostileServer(
            "cookies by the dozen",
            .token,
            .status(200),
            .framed(
                (1...50).map { "Set-Cookie: c\($0)=v; Path=/" }.joined(separator: "\r\n"),
                "Content-Length: \(ok.utf8.count)",
                body: ok
            )
        ),
        HostileServer(
            "a token in bytes one by one",
            .token,
            .status(200),
            .framed("Connection: close", body: ""),
            .pause,
            .send(String(ok.prefix(1))),
            .pause,
            .send(String(ok.dropFirst()))
        ),
    ]

    private static let redirects = [
        HostileServer(
            "a redirect to itself",
            .configuration,
            .error([.httpTooManyRedirects]),
            .reply(307, "", "Location: /resource")
        ),
        HostileServer("a redirect to nowhere", .configuration, .status(308), .reply(308, "")),
        HostileServer(
            "a redirect to a port where nobody listens",
            .configuration,
            .error([.cannotConnectToHost]),
            .reply(302, "", "Location: http://127.0.0.1:1/")
        ),
        HostileServer(
            "a redirect to a script",
            .configuration,
            .status(302),
            .reply(302, "", "Location: javascript:alert(1)")
        ),
        HostileServer(
            "a redirect to a file",
            .configuration,
            .status(301),
            .reply(301, "", "Location: file:///etc/passwd")
        ),
        HostileServer("a redirect to no URL", .configuration, .status(302), .reply(302, "", "Location: http://[::")),
    ]

    private static let challenges = [
        "Basic", "Digest", #"Digest realm="as", nonce="n", qop="auth""#, "Negotiate", "NTLM",
        #"Bearer error="invalid_token""#,
        "=,=,;", #"Basic realm="\"#, #"Basic realm="unfinished"#, ",,,Basic,,,",
        String(repeating: "Basic x, ", count: 2000),
    ].map { challenge in
        HostileServer(
            "401 with the challenge \(challenge.prefix(30))",
            .configuration,
            .rejected,
            .reply(401, #"{"error":"invalid_client"}"#, "WWW-Authenticate: \(challenge)")
        )
    }

    private static let slow = [
        HostileServer("silence", .timedOut, .error([.timedOut]), .silence),
        HostileServer(
            "silence after the head",
            .timedOut,
            .error([.timedOut]),
            .framed("Content-Length: 100", body: ""),
            .silence
        ),
        HostileServer("silence after 100", .timedOut, .error([.timedOut]), .interim(100), .silence),
        HostileServer(
            "silence in the middle of the body",
            .timedOut,
            .error([.timedOut]),
            .framed("Content-Length: 100", body: "{"),
            .silence
        ),
        HostileServer(
            "a body that trickles for ever",
            .timedOut,
            .error([.timedOut]),
            .framed("Connection: close", body: ""),
            .flood(" ")
        ),
        // So many of them that the client has read enough before its time is over, if it is quick.
        HostileServer("100 for ever", .timedOut, .anyError, .flood("HTTP/1.1 100 Continue\r\n\r\n")),
    ]
}
