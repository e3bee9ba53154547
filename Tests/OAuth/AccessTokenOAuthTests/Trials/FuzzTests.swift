import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

/// Random inputs for everything that reads what a server sends; `.ci/deep fuzz` tries a million and more.
///
/// `FUZZ_INPUTS` says how many, and `FUZZ_SEED` repeats a run. `WWW-Authenticate` has no reader here: a 401 means the
/// same whatever the challenge says.
@Suite("Readers under random inputs", .takesTurns, .endsHangs)
struct FuzzTests {
    private static let count = ProcessInfo.processInfo.environment["FUZZ_INPUTS"].flatMap { Int($0) } ?? 700
    private static let workers = max(2, ProcessInfo.processInfo.activeProcessorCount)
    private static let seed = ProcessInfo.processInfo.environment["FUZZ_SEED"].flatMap { UInt64($0) } ?? 1
    private static let secret = "RT0-secret"
    private static let now = Date(timeIntervalSince1970: 1_792_000_000)

    /// What random inputs are made of.
    private static let corpus = [
        #"{"access_token":"A1","token_type":"Bearer","expires_in":3600,"refresh_token":"RT1","scope":"read"}"#,
        #"{"access_token":"A1","id_token":"e30.e30.x","x":{"a":[1,2.5,-3e4,true,null,"\u00e9\\\"\n"]},"expires_in":"60"}"#,
        #"{"error":"invalid_grant","error_description":"RT0-secret is spent","error_uri":"https://as.example"}"#,
        #"{"error":{"code":1},"access_token":null,"refresh_token":""}"#,
        #"{"ok":false,"error":"invalid_refresh_token"}"#,
        "[[[[]]]]", "{\"a\":{\"b\":{\"c\":[{},[],\"]}\"]}}}", "\u{FEFF}{}", "", "null", "\"\\ud800\"",
        "120", "86401", "-1", "Wed, 21 Oct 2026 07:28:00 GMT", "Wednesday, 21-Oct-26 07:28:00 GMT",
        "Wed Oct 21 07:28:00 2026", "Wed, 99 Foo 99999 99:99:99 GMT",
        "https://api.example:8443/a?b#c", "http://user:pw@[::1]:80/%2e%2e", "HTTPS://API.EXAMPLE", "//x",
        "javascript:alert(1)",
        "https://a.example\\@b.example/", "a b+c%20&=£€\u{0}\u{10}\u{7F}",
    ].map { Array($0.utf8) }

    private static func input(_ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = corpus.randomElement(using: &generator) ?? []
        for _ in 0..<Int.random(in: 0...4, using: &generator) {
            let place = Int.random(in: 0...bytes.count, using: &generator)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0 where place < bytes.count: bytes[place] = .random(in: .min ... .max, using: &generator)
            case 1 where place < bytes.count: bytes.remove(at: place)
            case 2: bytes.insert(.random(in: .min ... .max, using: &generator), at: place)
            case 3: bytes.insert(contentsOf: Array(secret.utf8), at: place)
            case 4: bytes.replaceSubrange(place..., with: corpus.randomElement(using: &generator) ?? [])
            default:
                let piece = bytes[..<place].suffix(8)
                bytes.insert(
                    contentsOf: (0..<Int.random(in: 0...20, using: &generator)).flatMap { _ in piece },
                    at: place
                )
            }
        }
        return bytes
    }

    /// By hand, since Foundation drops a byte order mark.
    private static func decoded(_ form: String) -> [UInt8] {
        var result: [UInt8] = []
        var rest = Array(form.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                result.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
                rest = rest.dropFirst(2)
            } else {
                result.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
            }
        }
        return result
    }

    /// Runs every reader that the input is for; says what is wrong.
    private static func mistake(in bytes: [UInt8], _ number: Int) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        switch number % 5 {
        case 0, 1:
            let status = [200, 200, 201, 400, 401, 503, 100, 700][number / 5 % 8]
            let reply = TokenReplyReader(secrets: [secret])
                .read(
                    TokenEndpointReply(
                        status: status,
                        headers: ["Retry-After": text],
                        body: Data(bytes),
                        received: now
                    )
                )
            switch reply.result {
            case .success(let response):
                let token = response.accessToken.value.utf8
                if token.isEmpty || !token.allSatisfy({ (0x21...0x7E).contains($0) }) {
                    return "an access token that cannot be sent"
                }
                let refresh = (response.refreshToken ?? "x").utf8
                if refresh.isEmpty || !refresh.allSatisfy({ (0x20...0x7E).contains($0) }) {
                    return "a refresh token that is none"
                }
                if status >= 300 { return "a token from status \(status)" }
            case .failure(let failure):
                guard let error = failure as? OAuthError else { return "an error of another type" }
                if "\(error)".contains(secret) { return "an error that prints a secret" }
                if (error.serverExplanation ?? "").utf8.count > 800 { return "an explanation without end" }
                if let seconds = error.retryAfter, !(0...86_400).contains(seconds) { return "a wait of \(seconds) s" }
            }
        case 2:
            if let seconds = RetryAfter.seconds(text, at: now), !(0...86_400).contains(seconds) {
                return "a wait of \(seconds) s"
            }
        case 3:
            let form = FormEncoding.encoded(text)
            if form.utf8.contains(where: {
                $0 <= 0x20 || $0 >= 0x7F || $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "=")
            }) {
                return "a form that can be misread"
            }
            if decoded(form) != Array(text.utf8) { return "a form that says something else" }
        default:
            guard let url = URL(string: text), let origin = WebOrigin(of: url) else { return nil }
            if url.user != nil || origin.host.isEmpty { return "an origin that two parsers read in two ways" }
        }
        return nil
    }

    @Test(arguments: 0..<workers)
    func `none traps, and none gives out what cannot be used`(worker: Int) async {
        let mistakes = await onThreadOfItsOwn {
            var generator = SeededGenerator(seed: Self.seed &+ UInt64(worker) &* 1_000_003)
            var mistakes: [String] = []
            for number in 0..<(Self.count / Self.workers) where mistakes.count < 5 {
                let bytes = Self.input(&generator)
                if let mistake = Self.mistake(in: bytes, number) {
                    mistakes.append("\(mistake): \(Data(bytes).base64EncodedString())")
                }
            }
            return mistakes
        }
        #expect(mistakes.isEmpty, "seed \(Self.seed)")
    }

    /// Counts, for there is no time to assert on: what a reader copies or visits grows with its input, or with its
    /// square.
    @Test(arguments: ["{\"a\":1,", "[", "\"\\u0041", "{\"k\":\"v\",\"k\":", "%", "é", "1", "Wed, "])
    func `a long input ends`(piece: String) async {
        let mistakes = await onThreadOfItsOwn {
            // So long that a reader whose cost grows with the square of it takes minutes.
            let bytes = Array(String(repeating: piece, count: (1 << 16) / piece.utf8.count).utf8)
            var object = Array("{\"access_token\":\"A\",\"x\":\"".utf8)
            object += bytes.filter { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") } + Array("\"}".utf8)
            let read = [0, 15, 2, 3, 4].map { Self.mistake(in: bytes, $0) } + [Self.mistake(in: object, 0)]
            return read.compactMap { $0 }
        }
        #expect(mistakes.isEmpty)
    }
}
