import Foundation
import OAuthFoundation
import Testing

/// A Chromium without a window, by the WebDriver protocol of the W3C; `.ci/with-browser` starts its driver.
struct Browser {
    /// Where the driver listens; `nil` if there is none.
    static let driver = ProcessInfo.processInfo.environment["WEBDRIVER"].flatMap { URL(string: $0) }

    struct Refusal: Error {
        let command: String
        let reply: String
    }

    private let session: URL

    /// A window of so many pixels, as a phone or a desktop has it, and what is done in it.
    static func with(width: Int, height: Int, _ body: (Browser) async throws -> Void) async throws {
        let driver = try #require(Self.driver)
        // Chromium refuses to keep itself in a sandbox when root runs it, as in a container.
        let arguments = ["--headless=new"] + (getuid() == 0 ? ["--no-sandbox"] : [])
        let wanted: [String: Any] = [
            "browserName": "chrome", "goog:chromeOptions": ["args": arguments], "goog:loggingPrefs": ["browser": "ALL"],
        ]
        let reply = try await send(
            "POST",
            driver.appendingPathComponent("session"),
            ["capabilities": ["alwaysMatch": wanted]]
        )
        let members = try #require(reply as? [String: Any])
        let name = try #require(members["sessionId"] as? String)
        let browser = Browser(session: driver.appendingPathComponent("session").appendingPathComponent(name))
        do {
            let metrics: [String: Any] = ["width": width, "height": height, "deviceScaleFactor": 1, "mobile": true]
            try await browser.post(
                "goog/cdp/execute",
                ["cmd": "Emulation.setDeviceMetricsOverride", "params": metrics]
            )
            try await body(browser)
        } catch {
            _ = try? await send("DELETE", browser.session)
            throw error
        }
        _ = try await send("DELETE", browser.session)
    }

    func open(_ url: URL) async throws { try await post("url", ["url": url.absoluteString]) }

    /// Waits until a page with this heading is there, of which the browser tells nobody.
    func wait(for heading: String) async throws {
        let present = "document.readyState == 'complete' && (document.querySelector('h1') || {}).textContent"
        var found = ""
        for _ in 0..<1_000 {
            found = (try? await ask(present)) ?? "nothing"
            if found == heading { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        Issue.record("the page is \(found), and not \(heading)")
    }

    /// Clicks on what a selector finds; the page that it leads to may come later.
    func click(_ selector: String) async throws { try await post(try await element(selector) + "/click") }

    func type(_ text: String, into selector: String) async throws {
        let element = try await element(selector)
        try await post(element + "/clear")
        try await post(element + "/value", ["text": text])
    }

    /// What a script of ours finds on the page, as text.
    func ask(_ expression: String) async throws -> String {
        "\(try await post("execute/sync", ["script": "return String(\(expression))", "args": [Any]()]))"
    }

    /// What the browser complains of.
    func complaints() async throws -> [String] {
        let entries = try await post("se/log", ["type": "browser"]) as? [[String: Any]]
        return try #require(entries).map { "\($0["message"] ?? "")" }
    }

    /// The page as a picture, in PNG.
    func picture() async throws -> Data {
        let text = try await Self.send("GET", session.appendingPathComponent("screenshot")) as? String
        return try #require(text.flatMap { Data(base64Encoded: $0) })
    }

    private func element(_ selector: String) async throws -> String {
        let reply = try await post("element", ["using": "css selector", "value": selector]) as? [String: String]
        return "element/" + (try #require(reply?.values.first))
    }

    @discardableResult
    private func post(_ path: String, _ body: [String: Any] = [:]) async throws -> Any {
        try await Self.send("POST", session.appendingPathComponent(path), body)
    }

    @discardableResult
    private static func send(_ method: String, _ url: URL, _ body: [String: Any]? = nil) async throws -> Any {
        let body = try body.map { try JSONSerialization.data(withJSONObject: $0) } ?? Data()
        let port = try #require(url.port.flatMap { UInt16(exactly: $0) })
        let head =
            "\(method) \(url.path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n"
            + "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n\r\n"
        // The driver answers when the browser has done its work, for which no thread of the pool has to wait.
        let reply = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try exchange(Array(head.utf8) + Array(body), port) })
            }
        }
        let members = try JSONSerialization.jsonObject(with: reply.body) as? [String: Any]
        guard reply.status.hasPrefix("HTTP/1.1 200 "), let value = members?["value"] else {
            throw Refusal(command: "\(method) \(url.path)", reply: String(decoding: reply.body, as: UTF8.self))
        }
        return value
    }

    /// `URLSession` for Linux does not take the header fields of the driver, which have no space after the colon.
    private static func exchange(_ request: [UInt8], _ port: UInt16) throws -> (status: String, body: Data) {
        let connection = try SocketDescriptor.connected(toPort: port)
        defer { connection.close() }
        connection.send(request)
        var bytes = Data()
        while true {
            let more = connection.receive(upTo: 65_536)
            bytes.append(contentsOf: more)
            if let end = bytes.range(of: Data("\r\n\r\n".utf8)) {
                let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
                let field = lines.first { $0.lowercased().hasPrefix("content-length:") }?.dropFirst(15)
                let length = Int(field?.trimmingCharacters(in: .whitespaces) ?? "") ?? .max
                let body = bytes[end.upperBound...]
                if body.count >= length || more.isEmpty { return (lines.first ?? "", Data(body)) }
            }
            guard !more.isEmpty else { throw Refusal(command: "", reply: "the driver has closed the connection") }
        }
    }
}
