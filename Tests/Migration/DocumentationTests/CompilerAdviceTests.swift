import Foundation
import TestSupport
import Testing

/// The compiler is the first guide of a migration: it finds the calls that can be converted already.
@Suite("The compiler points async code to token()", .eightAtATime)
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

@Suite("The compiler says of code for version 3 what the growth of a service says", .eightAtATime)
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

/// The compiler of the toolchain that built these tests, and the modules that it built.
private struct Compiler {
    let modules: URL

    static let here: Compiler? = {
        let modules = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "Modules")
        let module = modules.appending(path: "AccessTokenAdapters.swiftmodule")
        return FileManager.default.fileExists(atPath: module.path) ? Compiler(modules: modules) : nil
    }()

    /// What it says of a file, without the lines of code that it quotes.
    func messages(on code: String) async throws -> String {
        let (text, reason) = try await onThreadOfItsOwn { Result { try run(on: code) } }.get()
        try #require(reason == .exit, "swiftc was killed, and may have said nothing")
        return text
    }

    /// Blocks the thread until the compiler has ended.
    private func run(on code: String) throws -> (text: String, reason: Process.TerminationReason) {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "Snippet.swift")
        try code.write(to: file, atomically: true, encoding: .utf8)
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments = ["swiftc", "-typecheck", "-swift-version", "6", "-I", modules.path, file.path]
        let output = Pipe()
        compiler.standardOutput = output
        compiler.standardError = output
        try compiler.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        compiler.waitUntilExit()
        return (String(decoding: text, as: UTF8.self), compiler.terminationReason)
    }
}
