#if os(macOS) || os(Linux)
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

/// `.ci/deep browser` runs it, and keeps pictures of the pages.
@Suite(
    "The command-line tool in a real browser",
    .serialized,
    .enabled(if: Browser.driver != nil, "needs WEBDRIVER: .ci/deep browser"),
    .endsHangs
)
struct BrowserTests {
    /// A desktop and a phone, in pixels.
    private static let sizes = [(width: 1280, height: 800), (width: 390, height: 844)]

    private let folder = ProcessInfo.processInfo.environment["BROWSER_PICTURES"].map { URL(fileURLWithPath: $0) }

    /// What each page has to be; a picture of it is kept for people to look at.
    private func look(_ browser: Browser, _ title: String, _ name: String) async throws {
        try await browser.wait(for: title)
        let overflow = "document.documentElement.scrollWidth - window.innerWidth"
        #expect(Int(try await browser.ask(overflow)) ?? 1 <= 0, "the page is wider than the screen")
        // Text of at least 16 pixels, and buttons that a finger meets.
        let text = "Math.min(...Array.from(document.querySelectorAll('h1, p, button, input:not([type=hidden])'))"
        #expect(Double(try await browser.ask(text + ".map(e => parseFloat(getComputedStyle(e).fontSize)))")) ?? 0 >= 16)
        let height = "Math.min(99, ...Array.from(document.querySelectorAll('button')).map(e => e.offsetHeight))"
        #expect(Int(try await browser.ask(height)) ?? 0 >= 44)
        #expect(try await browser.ask("document.scripts.length") == "0")
        #expect(try await browser.complaints() == [])
        guard let folder else { return }
        try await browser.picture().write(to: folder.appendingPathComponent(name + ".png"))
    }

    @Test(arguments: sizes) func `a user logs in`(width: Int, height: Int) async throws {
        try await withNotesServer { server, run in
            let tool = try run(["login"])
            let address = try await tool.address()
            try await Browser.with(width: width, height: height) { browser in
                try await browser.open(address)
                try await look(browser, "Who are you?", "sign-in-\(width)")
                try await browser.click("button[value=alice]")
                try await look(browser, "You can close this window", "closing-\(width)")
                #expect(try await browser.ask("location.pathname") == "/callback")
                #expect(try await tool.end() == 0, "\(tool.errors)")
                // The port is closed, and to load the page again begins no second login.
                let redirect = try #require(URL(string: try await browser.ask("location.href")))
                await #expect(throws: Browser.Refusal.self) { try await browser.open(redirect) }
            }
            #expect(tool.output.hasSuffix("You are logged in.\n"))
            let list = try run(["list"])
            #expect(try await list.end() == 0)
            #expect(list.output.contains(#""user":"alice""#))
            #expect(server.tally.signIns == 1)
        }
    }

    @Test(arguments: sizes) func `a user refuses`(width: Int, height: Int) async throws {
        try await withNotesServer { server, run in
            let tool = try run(["login"])
            let address = try await tool.address()
            try await Browser.with(width: width, height: height) { browser in
                try await browser.open(address)
                try await browser.click("button[value=refuse]")
                try await look(browser, "The login was refused", "refused-\(width)")
            }
            #expect(try await tool.end() == 77)
            #expect(tool.errors == "notes: Nobody was logged in.\n")
            #expect(server.tally.signIns == 0)
        }
    }

    @Test(arguments: sizes) func `a user connects a device`(width: Int, height: Int) async throws {
        try await withNotesServer { server, run in
            let tool = try run(["login", "--device"])
            let code = try await tool.code()
            try await Browser.with(width: width, height: height) { browser in
                try await browser.open(server.issuer.appendingPathComponent("device"))
                try await look(browser, "Connect a device", "device-\(width)")
                try await browser.type(code.lowercased(), into: "input[name=user_code]")
                try await browser.click("button[value=bob]")
                try await look(browser, "The device is connected.", "connected-\(width)")
            }
            #expect(try await tool.end() == 0, "\(tool.errors)")
            let list = try run(["list"])
            #expect(try await list.end() == 0)
            #expect(list.output.contains(#""user":"bob""#))
        }
    }
}
#endif
