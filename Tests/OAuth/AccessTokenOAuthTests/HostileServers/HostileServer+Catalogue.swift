import Foundation

extension HostileServer {
    /// What an exchange comes to, and a resource (`nil`: to the status of the reply), and the servers with which they
    /// do.
    private typealias Rows = KeyValuePairs<(Exchange, Resource?), KeyValuePairs<String, [Step]>>

    static let catalogue =
        [interim, noHTTP, replies, framing, slow].flatMap { rows in
            rows.flatMap { outcome, servers in
                servers.map { HostileServer(name: $0, steps: $1, exchange: outcome.0, resource: outcome.1) }
            }
        } + challenges

    private static let gone: Resource = .error([.badServerResponse, .networkConnectionLost])
    private static let ok = tokens("A1", "RT1")
    private static let html = "<!doctype html><title>Sign in to the network</title>"
    private static let invalidGrant = #"{"error":"invalid_grant"}"#
    private static let invalidClient = #"{"error":"invalid_client"}"#

    /// Interim responses (RFC 9110, section 15.2) before the real one, or in its place.
    private static let interim: Rows = [
        (.token, nil): [
            "100, then a token": [.interim(100), .token], "102, then a token": [.interim(102), .token],
            "103, then a token": [.interim(103, "Link: </a>; rel=preload"), .token],
            "100 in a packet of its own": [.interim(100), .pause, .token],
            "103 twice, 102, 100, then a token": [.interim(103), .interim(103), .interim(102), .interim(100), .token],
            "a thousand times 100, then a token": [
                .send(String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 1000)), .token,
            ],
        ],
        (.configuration, nil): [
            "100, then 401 invalid_client": [.interim(100), .reply(401, invalidClient)],
            "100, then 401 with a Basic challenge": [
                .interim(100), .reply(401, invalidClient, #"WWW-Authenticate: Basic realm="as""#),
            ],
            "103, then 302": [.interim(103), .reply(302, "", "Location: /resource")],
        ],
        (.signIn, nil): ["100, then 400 invalid_grant": [.interim(100), .reply(400, invalidGrant)]],
        (.later(after: 7), nil): [
            "100, then 503 with Retry-After": [.interim(100), .reply(503, "", "Retry-After: 7")]
        ],
        (.onceAgain, gone): [
            "100, then nothing": [.interim(100)],
            "101, then nothing": [.interim(101, "Upgrade: x", "Connection: upgrade")],
        ],
    ]

    /// What is no HTTP; the request was read all the same, and may have been carried out.
    private static let noHTTP: Rows = [
        (.onceAgain, gone): ["nothing at all": []],
        (.onceAgain, .anyError): [
            "a line of text": [.send("this is not HTTP\r\n\r\n")],
            "HTML without a head (HTTP/0.9)": [.send(html)],
            "zeros": [.bytes([UInt8](repeating: 0, count: 100))],
            "a greeting of SSH": [.send("SSH-2.0-OpenSSH_9.6\r\n")],
            "a greeting of a mail server": [.send("220 mail ready\r\n")],
            "an alert of TLS": [.bytes([0x15, 3, 3, 0, 2, 2, 0x28])],
            "a frame of HTTP/2": [.bytes([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100])],
            "a status that is no number": [.send("HTTP/1.1 abc OK\r\n\r\n")],
            "a version that does not exist": [.send("HTTP/3.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")],
        ],
        // Heads that curl accepts, and `URLSession` on Linux does not.
        (.unreadableHead, .anyError): [
            "no space for a reason": [.send("HTTP/1.1 200\r\n\r\n" + ok)],
            "lines that end in LF only": [.send("HTTP/1.1 200 OK\nConnection: close\n\n" + ok)],
            "a field in another character set": [
                .send("HTTP/1.1 200 OK\r\nX-Name: "), .bytes([0xE9]), .send("\r\n\r\n\(ok)"),
            ],
            "a space before a colon": [.framed("X-Field : a", body: ok)],
            "HTTP/1.2": [.send("HTTP/1.2 200 OK\r\nContent-Length: \(ok.utf8.count)\r\n\r\n\(ok)")],
            "a NUL in a field": [.framed("X-Field: a\0b", body: ok)],
            "a field without a colon": [.framed("X-Field", "Content-Length: \(ok.utf8.count)", body: ok)],
            "a field of a megabyte": [.framed("X-Field: \(String(repeating: "x", count: 1 << 20))", body: ok)],
            "half a megabyte of header fields": [
                .framed(String(repeating: "X-Field: \(String(repeating: "x", count: 999))\r\n", count: 500), body: ok)
            ],
        ],
    ]

    private static let replies: Rows = [
        (.later(after: nil), nil): [
            "500 with HTML": [.reply(500, html)], "500 that says invalid_grant": [.reply(500, invalidGrant)],
            "501": [.reply(501, "")], "408": [.reply(408, "")], "403 with HTML": [.reply(403, html)],
            "404 with HTML": [.reply(404, html)], "418 with HTML": [.reply(418, html)],
            "407 of a proxy": [.reply(407, html, #"Proxy-Authenticate: Basic realm="proxy""#)],
        ],
        (.onceAgain, nil): [
            "502": [.reply(502, html)], "503": [.reply(503, html)], "504": [.reply(504, html)],
            "520": [.reply(520, html)], "524": [.reply(524, html)], "999": [.reply(999, "")],
            "999 with HTML": [.reply(999, html)], "600 with a token": [.reply(600, ok)],
            "a page of a captive portal": [.reply(200, html)], "an empty body": [.reply(200, "")],
            "an empty object": [.reply(200, "{}")], "bytes that are no text": [.reply(200, "\u{0}\u{1}\u{FFFD}")],
        ],
        (.later(after: 2), nil): ["503 with Retry-After": [.reply(503, "", "Retry-After: 2")]],
        (.signIn, nil): [
            "200 with the refusal of RFC 6749": [.reply(200, invalidGrant)],
            "400 with the refusal in an object": [.reply(400, #"{"error":{"code":"invalid_grant"}}"#)],
        ],
        (.configuration, nil): [
            "400 that repeats the refresh token as its code": [
                .reply(400, #"{"error":"RT0-secret","error_description":"RT0-secret"}"#)
            ]
        ],
        (.token, nil): [
            "a token beside a member that is deep": [.reply(200, deep(200))],
            "a token beside a member that is deeper than decoders go": [.reply(200, deep(50_000))],
            "a token as text/html in another character set": [
                .reply(200, ok, "Content-Type: text/html; charset=utf-16")
            ],
            "a member twice": [
                .reply(
                    200,
                    #"{"access_token":"A0","scope":"a","access_token":"A1","scope":"b","refresh_token":"RT1"}"#
                )
            ],
            "a type in other letters, with a space behind it": [
                .reply(200, #"{"access_token":"A1","token_type":"bEARER ","refresh_token":"RT1"}"#)
            ],
        ],
        (.notUnderstood, .status(304)): ["304": [.send("HTTP/1.1 304 No\r\nConnection: close\r\n\r\n")]],
        (.onceAgain, .status(204)): ["204": [.send("HTTP/1.1 204 No\r\nConnection: close\r\n\r\n")]],
        (.notUnderstood, nil): [
            "300": [.reply(300, "")], "400 with nothing in it": [.reply(400, "")],
            "404 with a line of text": [.reply(404, "404 page not found")],
            "400 with XML": [.reply(400, "<error>no</error>", "Content-Type: application/xml")],
            "400 with an error that is a number": [.reply(400, #"{"error":7}"#)],
            "400 with an error that is an object": [.reply(400, #"{"error":{"code":1}}"#)],
            "an array": [.reply(200, "[\(ok)]")],
            "JSON that stops": [.reply(200, String(ok.dropLast(3)))],
            "JSON that is very deep": [.reply(200, #"{"a":"# + String(repeating: "[", count: 100_000))],
            "brackets that do not match": [.reply(200, #"{"a":[},"# + String(ok.dropFirst()))],
            "something behind the JSON": [.reply(200, ok + "{}")],
            "a refresh token with a line break": [
                .reply(200, #"{"access_token":"A1","token_type":"Bearer","refresh_token":"RT\n1"}"#)
            ],
            "a token inside of another object": [.reply(200, #"{"data":\#(ok)}"#)],
            "a line in front of the JSON": [.reply(200, ")]}',\n" + ok)],
        ],
        (.rescued, nil): [
            "200 with a refusal and a refresh token": [
                .reply(200, #"{"error":"invalid_grant","refresh_token":"RT1"}"#)
            ],
            "a token of another type": [
                .reply(200, #"{"access_token":"A1","token_type":"DPoP","refresh_token":"RT1"}"#)
            ],
            "a refresh token alone": [.reply(200, #"{"refresh_token":"RT1"}"#)],
        ],
        (.configuration, nil): [
            "a redirect to itself": [.reply(307, "", "Location: /resource")],
            "a redirect to nowhere": [.reply(308, "")],
            "a redirect to a port where nobody listens": [.reply(302, "", "Location: http://127.0.0.1:1/")],
            "a redirect to a script": [.reply(303, "", "Location: javascript:alert(1)")],
            "a redirect to a file": [.reply(301, "", "Location: file:///etc/passwd")],
            "a redirect to no URL": [.reply(302, "", "Location: http://[::")],
        ],
    ]

    private static func deep(_ count: Int) -> String {
        let member = String(repeating: "[", count: count) + String(repeating: "]", count: count)
        return #"{"x":\#(member),"# + String(ok.dropFirst())
    }

    /// What is unusual or wrong below the body.
    ///
    /// Trailer fields end the process on Linux; see the limit in the threat model.
    private static let framing: Rows = [
        (.token, .status(200)): [
            "a reply of HTTP/1.0 without a length": [.send("HTTP/1.0 200 OK\r\n\r\n" + ok)],
            "an empty reason": [.send("HTTP/1.1 200 \r\n\r\n" + ok)],
            "chunks with extensions": [
                .framed("Transfer-Encoding: chunked", body: "1;a=b\r\n{\r\n"),
                .send("\(String(ok.utf8.count - 1, radix: 16))\r\n\(ok.dropFirst())\r\n0\r\n\r\n"),
            ],
            "more than its length says": [
                .framed("Content-Length: \(ok.utf8.count)", body: ok + "HTTP/1.1 400 Bad\r\n\r\n")
            ],
            "JSON in UTF-16": [
                .framed("Content-Length: \(2 * ok.utf16.count)", body: ""),
                .bytes(ok.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }),
            ],
            "a folded field": [.framed("X-Field: a", " b", "Content-Length: \(ok.utf8.count)", body: ok)],
            "cookies by the dozen": [
                .framed((1...50).map { "Set-Cookie: c\($0)=v; Path=/" }.joined(separator: "\r\n"), body: ok)
            ],
            "a token in bytes one by one": [
                .framed("Connection: close", body: ""), .pause, .send(String(ok.prefix(1))), .pause,
                .send(String(ok.dropFirst())),
            ],
        ],
        (.onceAgain, .anyError): [
            "a body that is cut": [.framed("Content-Length: 1000", body: ok)],
            "chunks that stop": [.framed("Transfer-Encoding: chunked", body: "5\r\n{\"acc")],
            "a chunk whose size is none": [.framed("Transfer-Encoding: chunked", body: "zz\r\n{}\r\n0\r\n\r\n")],
            "a negative length": [.framed("Content-Length: -5", body: ok)],
            "two lengths": [.framed("Content-Length: 2", "Content-Length: 3000", body: ok)],
            "gzip that is none": [.framed("Content-Encoding: gzip", "Content-Length: \(ok.utf8.count)", body: ok)],
            "an encoding that nobody knows": [
                .framed("Content-Encoding: x-none", "Content-Length: \(ok.utf8.count)", body: ok)
            ],
        ],
        (.tooLong, .tooLong): [
            "a length of ten gigabytes": [.framed("Content-Length: 10000000000", body: ok), .silence],
            "a gzip bomb": [
                .framed("Content-Encoding: gzip", "Connection: close", body: ""),
                .bytes(GzipBomb.bytes(growingTo: 256 << 20)),
            ],
            "a body without end": [
                .framed("Connection: close", body: ""), .flood(String(repeating: " ", count: 1 << 16)),
            ],
        ],
    ]

    private static let challenges = [
        "Basic", "Digest", #"Digest realm="as", nonce="n", qop="auth""#, "Negotiate", "NTLM",
        #"Bearer error="invalid_token""#, "=,=,;", #"Basic realm="\"#, #"Basic realm="unfinished"#, ",,,Basic,,,",
        String(repeating: "Basic x, ", count: 2000),
    ].map { challenge in
        HostileServer(
            name: "401 with the challenge \(challenge.prefix(30))",
            steps: [.reply(401, invalidClient, "WWW-Authenticate: \(challenge)")],
            exchange: .configuration
        )
    }

    private static let slow: Rows = [
        (.timedOut, .error([.timedOut])): [
            "silence": [.silence], "silence after 100": [.interim(100), .silence],
            "silence after the head": [.framed("Content-Length: 100", body: ""), .silence],
            "silence in the middle of the body": [.framed("Content-Length: 100", body: "{"), .silence],
            "a body that trickles for ever": [.framed("Connection: close", body: ""), .flood(" ")],
            // So many of them that the client has read enough before its time is over, if it is quick.
            "100 for ever": [.flood("HTTP/1.1 100 Continue\r\n\r\n")],
        ]
    ]
}

/// A gzip stream that grows to many times its size: zeros, as runs of 258 (RFC 1951, section 3.2.6).
///
/// Its checksum is missing: no reader should come that far.
enum GzipBomb {
    static func bytes(growingTo count: Int) -> [UInt8] {
        var bytes: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
        var (bits, used) = (UInt64(0), 0)
        func append(_ value: UInt64, _ width: Int) {
            bits |= value << UInt64(used)
            used += width
            while used >= 8 {
                bytes.append(UInt8(truncatingIfNeeded: bits))
                bits >>= 8
                used -= 8
            }
        }
        append(0b011, 3)
        // The literal 0, then as often: length 258, distance 1. Huffman codes come with their first bit first.
        append(0b0000_1100, 8)
        for _ in 0..<(count / 258) { append(0b00000_10100011, 13) }
        append(0, 16)
        return bytes
    }
}
