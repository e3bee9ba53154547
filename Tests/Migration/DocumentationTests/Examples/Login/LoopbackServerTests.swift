#if os(macOS) || os(Linux)
import AccessTokenOAuth
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The loopback server as a program", .endsHangs)
struct LoopbackServerTests {
    /// Runs the program in a folder, with its output in a file that only grows.
    private func run(_ arguments: String, in folder: URL) throws -> ChildProcess {
        let script = #"exec "$0" \#(arguments) >"$1/out" 2>"$1/err""#
        return try ChildProcess(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", script, try program(named: "loopback-server").path, folder.path]
        )
    }

    private func text(_ name: String, in folder: URL) -> String {
        (try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)) ?? ""
    }

    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("server-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    @Test func `says where it is, serves a login, and prints what happens without a secret`() async throws {
        try await withFolder { folder in
            let server = try run("--client-id television --lifetime 3600", in: folder)
            await yieldUntil { text("out", in: folder).contains("RESOURCE=") }
            let places = text("out", in: folder).split(separator: "\n").map { $0.split(separator: "=", maxSplits: 1) }
            let named = Dictionary(places.filter { $0.count == 2 }.map { (String($0[0]), String($0[1])) }) { $1 }
            #expect(named["CLIENT_ID"] == "television")
            let issuer = try #require(URL(string: named["ISSUER"] ?? ""))
            let found = try await AuthorizationServer.discover(issuer)
            #expect(found.tokenURL?.absoluteString == named["TOKEN_ENDPOINT"])
            #expect(found.authorizationURL?.absoluteString == named["AUTHORIZATION_ENDPOINT"])
            #expect(found.deviceAuthorizationURL?.absoluteString == named["DEVICE_AUTHORIZATION_ENDPOINT"])
            #expect(found.revocationURL?.absoluteString == named["REVOCATION_ENDPOINT"])

            let credential = try await logInFromTelevision(at: issuer) { login in
                var form = URLRequest(url: login.verificationURL)
                form.httpMethod = "POST"
                form.httpBody = Data("user_code=\(login.userCode)&user=alice".utf8)
                form.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
                Task { [form] in try await URLSession.shared.data(for: form) }
            }
            let token = try #require(credential.accessToken)
            let life = try #require(token.expiration).timeIntervalSinceNow
            #expect(life > 0 && life <= 3600)
            await yieldUntil { text("out", in: folder).contains("tokenIssued") }
            for secret in [token.value, credential.refreshToken ?? token.value] {
                #expect(!text("out", in: folder).contains(secret))
            }
            #expect(server.isRunning)
        }
    }

    @Test(arguments: ["--port 99999", "--port", "--lifetime soon", "--client-id ''", "--other 1"])
    func `an option that makes no sense is named, with those that do`(arguments: String) async throws {
        try await withFolder { folder in
            let server = try run(arguments, in: folder)
            await yieldUntil { !server.isRunning }
            let option = arguments.split(separator: " ")[0]
            #expect(text("err", in: folder).hasPrefix("loopback-server: \(option) makes no sense here.\n"))
            #expect(text("err", in: folder).contains("usage: loopback-server"))
            #expect(text("out", in: folder).isEmpty)
        }
    }
}
#endif
