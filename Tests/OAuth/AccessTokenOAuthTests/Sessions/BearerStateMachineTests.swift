import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The decisions about one request", .eightAtATime)
struct BearerStateMachineTests {
    enum Body: CaseIterable, Sendable {
        case none, data, stream, uploadedData, uploadedFile
        var canBeSentAgain: Bool { self != .stream }
    }

    private static let statuses = Array(200...599)
    private static let redirects = [301, 302, 303, 307, 308]

    private let url: URL
    private let rules: BearerRules

    init() throws {
        url = try #require(URL(string: "https://api.example/a/b?c=d"))
        rules = BearerRules(
            origins: [try #require(URL(string: "https://API.example:443/other"))],
            configuration: .keepingNothing
        )
    }

    private func machine(_ body: Body = .none, method: String = "POST") -> BearerStateMachine {
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        switch body {
        case .none: return BearerStateMachine(request, by: rules)
        case .data:
            request.httpBody = Data("body".utf8)
            return BearerStateMachine(request, by: rules)
        case .stream:
            request.httpBodyStream = InputStream(data: Data("body".utf8))
            return BearerStateMachine(request, by: rules)
        case .uploadedData: return BearerStateMachine(request, uploading: .data(Data("body".utf8)), by: rules)
        case .uploadedFile: return BearerStateMachine(request, uploading: .file(url), by: rules)
        }
    }

    private func reply(_ status: Int, location: String? = nil) throws -> HTTPReply {
        let fields = location.map { ["Location": $0] } ?? [:]
        return HTTPReply(
            response: try #require(
                HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
            )
        )
    }

    private let first = AccessToken(value: "A1")
    private let second = AccessToken(value: "A2")

    /// What goes out, as the test's own short text.
    private func text(_ action: BearerAction) -> String {
        switch action {
        case .retrieveToken: "retrieve"
        case .send(let request, let upload):
            "\(request.httpMethod ?? "") \(request.url?.absoluteString ?? "") "
                + "\(request.value(forHTTPHeaderField: "Authorization") ?? "no token") \(body(request, upload))"
        case .invalidate(let token): "invalidate \(token.value)"
        case .finish(let reply): "finish \(reply.response.statusCode)"
        case .fail(let error): "fail \(error)"
        }
    }

    private func body(_ request: URLRequest, _ upload: HTTPUpload) -> Body {
        switch upload {
        case .data: .uploadedData
        case .file: .uploadedFile
        case .ofRequest where request.httpBodyStream != nil: .stream
        case .ofRequest: request.httpBody == nil ? .none : .data
        }
    }

    private func sent(_ token: String, _ body: Body) -> String { "POST \(url.absoluteString) Bearer \(token) \(body)" }

    @Test(arguments: Body.allCases)
    func `whatever is not a 401 or a redirect goes to the caller, and so does everything after the repetition`(
        body: Body
    ) throws {
        for status in Self.statuses where status != 401 {
            var machine = machine(body)
            #expect(text(machine.start()) == "retrieve")
            #expect(text(machine.tokenRetrieved(first)) == sent("A1", body))
            #expect(text(machine.replied(try reply(status))) == "finish \(status)")
        }
        guard body.canBeSentAgain else { return }
        for status in Self.statuses {
            var machine = machine(body)
            _ = machine.start()
            _ = machine.tokenRetrieved(first)
            #expect(text(machine.replied(try reply(401))) == "invalidate A1")
            #expect(text(machine.invalidated()) == "retrieve")
            #expect(text(machine.tokenRetrieved(second)) == sent("A2", body))
            #expect(text(machine.replied(try reply(status))) == "finish \(status)")
        }
    }

    @Test func `a stream is not sent again, and its token is rejected all the same`() throws {
        var machine = machine(.stream)
        _ = machine.start()
        #expect(text(machine.tokenRetrieved(first)) == sent("A1", .stream))
        #expect(text(machine.replied(try reply(401))) == "invalidate A1")
        #expect(text(machine.invalidated()) == "finish 401")
    }

    @Test(arguments: redirects, Body.allCases)
    func `a redirect within the origin keeps the token, and the body as RFC 9110 has it`(
        status: Int,
        body: Body
    ) throws {
        var machine = machine(body)
        _ = machine.start()
        _ = machine.tokenRetrieved(first)
        let action = text(machine.replied(try reply(status, location: "../x?y=%2F")))
        let dropsBody = status <= 303
        guard dropsBody || body.canBeSentAgain else {
            #expect(action == "finish \(status)")
            return
        }
        let next = "https://api.example/x?y=%2F"
        let expected = dropsBody ? "GET \(next) Bearer A1 none" : "POST \(next) Bearer A1 \(body)"
        #expect(action == expected)
        // The repetition is of what the redirect asked for.
        #expect(text(machine.replied(try reply(401))) == "invalidate A1")
        #expect(text(machine.invalidated()) == "retrieve")
        #expect(text(machine.tokenRetrieved(second)) == expected.replacing("A1", with: "A2"))
    }

    @Test(arguments: [
        "https://other.example/", "https://api.example:8443/", "//other.example/x", "https://api.example.other/",
        "https://api.example@other.example/", "https://someone@api.example/",
    ])
    func `a redirect to another origin goes without the token, and it never comes back`(location: String) throws {
        var machine = machine()
        _ = machine.start()
        _ = machine.tokenRetrieved(first)
        #expect(text(machine.replied(try reply(307, location: location))).hasSuffix(" no token none"))
        #expect(text(machine.replied(try reply(307, location: url.absoluteString))).hasSuffix(" no token none"))
        #expect(text(machine.replied(try reply(401))) == "finish 401")
    }

    @Test(arguments: [
        "http://api.example/", "http://other.example/", "ftp://api.example/", "mailto:a@b", "https://", "",
    ])
    func `a redirect into the clear or to nowhere is the reply`(location: String) throws {
        var machine = machine()
        _ = machine.start()
        _ = machine.tokenRetrieved(first)
        #expect(text(machine.replied(try reply(302, location: location))) == "finish 302")
    }

    @Test func `redirects end after twenty`() throws {
        var machine = machine(method: "GET")
        _ = machine.start()
        _ = machine.tokenRetrieved(first)
        for _ in 1...20 { #expect(text(machine.replied(try reply(302, location: "/"))).hasPrefix("GET")) }
        guard case .fail(let error) = machine.replied(try reply(302, location: "/")) else {
            Issue.record("there is no end")
            return
        }
        #expect((error as? URLError)?.code == .httpTooManyRedirects)
    }

    @Test func `a cookie of the caller's stays in its origin, and a dropped body takes its fields with it`() throws {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = Data("body".utf8)
        for name in ["Cookie", "Content-Type", "X-Own"] { request.setValue("1", forHTTPHeaderField: name) }
        for (location, names) in [("/", ["Cookie", "X-Own"]), ("https://other.example", ["X-Own"])] {
            var machine = BearerStateMachine(request, by: rules)
            _ = machine.start()
            _ = machine.tokenRetrieved(first)
            guard case .send(let next, _) = machine.replied(try reply(303, location: location)) else {
                Issue.record("the redirect is not followed")
                return
            }
            let left = Set((next.allHTTPHeaderFields ?? [:]).keys).subtracting(["Authorization"])
            #expect(left == Set(names))
        }
    }

    @Test(arguments: ["", "a b", "a\r\nX-Evil: 1", "a\nb", "a\u{0}b", "\u{7F}", "ü", "a\t"])
    func `a token that no field can carry is not sent`(value: String) {
        var machine = machine()
        _ = machine.start()
        let action = text(machine.tokenRetrieved(AccessToken(value: value)))
        #expect(action == "fail \(BearerSessionError.unsendableToken)")
    }

    @Test func `neither is one that no field can carry after a 401`() throws {
        var machine = machine()
        _ = machine.start()
        _ = machine.tokenRetrieved(first)
        _ = machine.replied(try reply(401))
        _ = machine.invalidated()
        let action = text(machine.tokenRetrieved(AccessToken(value: "a\r\nb")))
        #expect(action == "fail \(BearerSessionError.unsendableToken)")
    }

    @Test(arguments: [
        ("https://other.example/", "https://other.example:443"), ("http://api.example/", "http://api.example:80"),
        ("https://api.example:444/", "https://api.example:444"), ("file:///etc/passwd", "file:"),
        ("https://api.example.evil/", "https://api.example.evil:443"),
    ])
    func `what leads elsewhere is refused before there is a token`(text: String, origin: String) throws {
        var machine = BearerStateMachine(URLRequest(url: try #require(URL(string: text))), by: rules)
        #expect(self.text(machine.start()) == "fail \(BearerSessionError.originNotAllowed(origin))")
    }

    @Test func `a request with credentials of its own is refused`() throws {
        var request = URLRequest(url: url)
        request.setValue("Basic x", forHTTPHeaderField: "authorization")
        var machine = BearerStateMachine(request, by: rules)
        #expect(text(machine.start()) == "fail \(BearerSessionError.authorizationAlreadySet)")
        let named = try #require(URL(string: "https://someone:secret@api.example/"))
        machine = BearerStateMachine(URLRequest(url: named), by: rules)
        #expect(text(machine.start()) == "fail \(BearerSessionError.authorizationAlreadySet)")
        let configuration = URLSessionConfiguration.keepingNothing
        configuration.httpAdditionalHeaders = ["AUTHORIZATION": "Basic x"]
        let rules = BearerRules(origins: [url], configuration: configuration)
        machine = BearerStateMachine(URLRequest(url: url), by: rules)
        #expect(text(machine.start()) == "fail \(BearerSessionError.authorizationAlreadySet)")
    }

    @Test(arguments: ["http://api.example", "http://127.api.example", "http://10.0.0.1:8080"])
    func `plain HTTP is refused beyond this machine, unless it is allowed`(text: String) throws {
        let url = try #require(URL(string: text))
        for isAllowed in [false, true] {
            let rules = BearerRules(origins: [url], allowsInsecureHTTP: isAllowed, configuration: .keepingNothing)
            var machine = BearerStateMachine(URLRequest(url: url), by: rules)
            let origin = try #require(WebOrigin(of: url)).description
            #expect(
                self.text(machine.start())
                    == (isAllowed ? "retrieve" : "fail \(BearerSessionError.insecureOrigin(origin))")
            )
        }
    }

    @Test(arguments: ["http://127.0.0.1:8080/", "http://localhost/", "http://[::1]:80/", "http://127.3.2.1/"])
    func `plain HTTP is good within this machine`(text: String) throws {
        let url = try #require(URL(string: text))
        let rules = BearerRules(origins: [url], configuration: .keepingNothing)
        var machine = BearerStateMachine(URLRequest(url: url), by: rules)
        #expect(self.text(machine.start()) == "retrieve")
    }

    @Test func `an international host is the same one in both of its forms`() throws {
        let typed = try #require(URL(string: "https://bücher.example"))
        let looked = try #require(URL(string: "https://xn--bcher-kva.example/path"))
        #expect(WebOrigin(of: typed) == WebOrigin(of: typed.appending(path: "path")))
        #expect(WebOrigin(of: typed) == WebOrigin(of: looked))
        // What else is encoded in a host is not decoded.
        let encoded = try #require(URL(string: "https://127%2E0.0.1"))
        #expect(WebOrigin(of: encoded) != WebOrigin(of: try #require(URL(string: "https://127.0.0.1"))))
    }

    @Test func `of an origin only scheme, host and port count; in a request a user is an error`() throws {
        let url = try #require(URL(string: "https://user:word@api.example/path?query"))
        let rules = BearerRules(origins: [url], configuration: .keepingNothing)
        #expect(rules.refusal(of: URLRequest(url: try #require(URL(string: "https://api.example/other")))) == nil)
        #expect(rules.refusal(of: URLRequest(url: url)) == .authorizationAlreadySet)
        #expect("\(BearerSessionError.authorizationAlreadySet)".contains("or the URL names a user"))
    }
}
