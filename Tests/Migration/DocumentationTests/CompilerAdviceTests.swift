import Foundation
import TestSupport
import Testing

/// The compiler is the first guide of a migration: it finds the calls that can be converted already.
@Suite("The compiler points async code to token()", .takesTurns)
struct CompilerAdviceTests {
    static let providers = [
        "any AccessTokenProviding", "AccessTokenService", "CallbackServiceAdapter",
    ]

    @Test(.enabled(if: Compiler.here != nil, "needs swiftc beside the modules of this build"), arguments: providers)
    func `where it passes a handler, and leaves callback code alone`(to provider: String) async throws {
        func messages(_ effect: String) async throws -> String {
            try await #require(Compiler.here).messages(
                on: """
                    import AccessTokenAdapters

                    func show(_ tokens: \(provider)) \(effect){
                        tokens.retrieveToken { result in print(result) }
                    }
                    """
            )
        }
        let advice = try await messages("async ")
        #expect(
            advice.contains("Snippet.swift:4:12: warning: consider using asynchronous alternative function"),
            "retrieveToken(then:) needs @available(*, renamed: \"token()\"), and a token() beside it; swiftc says: \(advice)"
        )
        #expect(advice.contains("'token()' declared here"), "swiftc says: \(advice)")
        #expect(try await messages("") == "", "code without async must compile without a word")
    }
}

@Suite("The compiler says of code for version 3 what the growth of a service says", .takesTurns)
struct Version3AdviceTests {
    /// What stands around the code of a row, which begins with the key.
    private static let surroundings: [(key: String, before: String, after: String)] = [
        ("AccessTokenService.Handler", "let handlers: [", "] = []"),
        ("Result<", "func show(_ result: ", ") {}"),
        ("func load(", "struct Loader: AccessTokenLoader { ", " { handler(.failure(CancellationError())) } }"),
        ("AccessTokenService(", "func make(_ loader: any AccessTokenLoader, _ queue: DispatchQueue) { _ = ", " }"),
        ("token.isValid", "func check(_ service: AccessTokenService, _ token: AccessToken) -> Bool { ", " }"),
    ]

    @Test(.enabled(if: Compiler.here != nil, "needs swiftc beside the modules of this build"))
    func `and compiles what the page tells to write`() async throws {
        let compiler = try #require(Compiler.here)
        let lines = try Repository.text(of: "Sources/Documentation.docc/Growth.md").lines
        let table = lines.drop { !$0.hasPrefix("| in version 3 |") }.dropFirst(2).prefix { $0.hasPrefix("|") }
        try #require(table.count == Self.surroundings.count)
        for line in table {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            let (old, new) = (cells[0].filter { $0 != "`" }, cells[2].filter { $0 != "`" })
            let (_, before, after) = try #require(Self.surroundings.first { old.hasPrefix($0.key) }, "\(line)")
            func messages(_ code: String) async throws -> String {
                let imports = "import AccessTokenGCD\nimport Dispatch\n"
                return try await compiler.messages(on: imports + before + code + after)
            }
            let complaint = try await messages(old)
            #expect(complaint.contains(cells[1]), "\(old): swiftc says: \(complaint)")
            #expect(try await messages(new) == "", "\(new) must compile without a word")
        }
    }
}

@Suite("The compiler refuses the listings of the article on re-entrancy as they are printed", .takesTurns)
struct PrintedListingTests {
    @Test(
        .enabled(if: Compiler.here != nil, "needs swiftc beside the modules of this build"),
        arguments: [
            ("protocol Tokens: AnyActor {}", "'AnyActor'"),
            (
                """
                actor Tokens {
                    func work() async throws -> String {
                        print("refreshes")
                        try await Task.sleep(for: .seconds(1))
                        print("stores")
                    }
                }
                """, "missing return"
            ),
        ]
    )
    func `with this complaint`(_ code: String, _ complaint: String) async throws {
        let messages = try await #require(Compiler.here).messages(on: code, checksFlow: true)
        #expect(messages.contains(complaint) && messages.contains("error:"), "swiftc says: \(messages)")
    }
}

@Suite("The compiler says of an app's names what the guide says", .takesTurns)
struct NameTests {
    private static let app = "public final class AccessTokenService { public init() {}; public func mine() {} }"

    @Test(.enabled(if: Compiler.here != nil, "needs swiftc beside the modules of this build"))
    func `a test that imports the app and the contract has to name the module`() async throws {
        let compiler = try #require(Compiler.here)
        let imports = "import AccessTokenContract\nimport YourApp\n"
        let plain = try await compiler.messages(
            on: imports + "func call(_ service: AccessTokenService) {}",
            app: Self.app
        )
        #expect(plain.contains("'AccessTokenService' is ambiguous for type lookup"), "swiftc says: \(plain)")
        let named = "func call(_ service: YourApp.AccessTokenService, _ token: AccessTokenGCD.AccessToken) {}"
        #expect(try await compiler.messages(on: imports + "import AccessTokenGCD\n" + named, app: Self.app) == "")
    }

    @Test(.enabled(if: Compiler.here != nil, "needs swiftc beside the modules of this build"))
    func `a file of the app means its own class, without a word`() async throws {
        let file = "import AccessTokenGCD\n\(Self.app)\nfunc call(_ service: AccessTokenService) { service.mine() }"
        #expect(try await #require(Compiler.here).messages(on: file) == "")
    }
}

@Suite("The compiler says of a caller on the main actor what the migration reference says", .takesTurns)
struct MainActorCallerTests {
    @Test(.enabled(if: Compiler.here != nil, "needs swiftc beside the modules of this build"), arguments: ["5", "6"])
    func `whose handler touches the caller's properties`(language: String) async throws {
        let compiler = try #require(Compiler.here)
        let page = try Repository.text(of: "Sources/Documentation.docc/MigrationReference.md")
        let prose = page.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        func messages(_ body: String) async throws -> String {
            let code = """
                import AccessTokenGCD
                import Dispatch

                @MainActor final class FriendsScreen {
                    var shown: [String] = []
                    func appear(_ tokens: any AccessTokenProviding) {
                        tokens.retrieveToken { [weak self] result in \(body) }
                    }
                    func show(_ result: Result<AccessToken, any Error>) { shown = ["\\(result)"] }
                }
                """
            return try await compiler.messages(on: code, language: language)
        }
        for (body, complaint) in [
            ("self?.shown = []; _ = result", "can not be mutated from a Sendable closure"),
            ("self?.show(result)", "in a synchronous nonisolated context"),
        ] {
            let said = try await messages(body)
            #expect(said.contains("error: ") && said.contains(complaint), "\(body): swiftc says: \(said)")
            #expect(prose.contains("\"\(complaint)\""))
        }
        for wrapping in ["DispatchQueue.main.async { [weak self] in … }", "MainActor.assumeIsolated { … }"] {
            #expect(prose.contains("`\(wrapping)`"))
            let body = wrapping.replacing("…", with: "self?.show(result)")
            #expect(try await messages(body) == "", "\(body) must compile without a word")
        }
    }
}

/// The compiler of the toolchain that built these tests, and the modules that it built.
private struct Compiler {
    let modules: URL

    static let here: Compiler? = {
        let modules = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "Modules")
        let module = modules.appending(path: "AccessTokenAdapters.swiftmodule")
        return FileManager.default.fileExists(atPath: module.path) ? Compiler(modules: modules) : nil
    }()

    /// What it says of a file, without the lines of code that it quotes.
    ///
    /// - Parameters:
    ///   - language: the mode of the Swift language.
    ///   - app: the code of a module `YourApp`, which the file may import.
    ///   - checksFlow: also looks for what only the flow of control shows, such as a missing return.
    func messages(
        on code: String,
        language: String = "6",
        app: String? = nil,
        checksFlow: Bool = false
    ) async throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        if let app {
            let module = folder.appending(path: "YourApp.swiftmodule").path
            let options = ["-emit-module", "-parse-as-library", "-module-name", "YourApp", "-o", module]
            try #require(try await run(app, in: folder, language, options) == "")
        }
        let options = checksFlow ? ["-emit-sil", "-o", "/dev/null"] : ["-typecheck"]
        return try await run(code, in: folder, language, options)
    }

    private func run(
        _ code: String,
        in folder: URL,
        _ language: String,
        _ options: [String]
    ) async throws -> String {
        let file = folder.appending(path: "Snippet.swift")
        try code.write(to: file, atomically: true, encoding: .utf8)
        let words = options + ["-swift-version", language, "-I", modules.path, "-I", folder.path, file.path]
        let (text, reason) = try await onThreadOfItsOwn { Result { try run(words) } }.get()
        try #require(reason == .exit, "swiftc was killed, and may have said nothing")
        return text
    }

    /// Blocks the thread until the compiler has ended.
    private func run(_ words: [String]) throws -> (text: String, reason: Process.TerminationReason) {
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments = ["swiftc"] + words
        let output = Pipe()
        compiler.standardOutput = output
        compiler.standardError = output
        try compiler.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        compiler.waitUntilExit()
        return (String(decoding: text, as: UTF8.self), compiler.terminationReason)
    }
}
