import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

@testable import AccessTokenOAuth

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Bodies that a session of either kind sends and receives", .eightAtATime, .timeLimit(.minutes(10)))
struct TransferTests {
    enum Sending: CaseIterable, Sendable {
        case requestData, uploadedData, uploadedFile
    }

    private static let body = String(repeating: "0123456789", count: 5000)

    private func withFile<Value>(_ text: String, _ body: (URL) async throws -> Value) async throws -> Value {
        let file = try TemporaryFile()
        try file.append(Data(text.utf8))
        return try await body(file.url)
    }

    private func post(_ server: ScriptedServer) throws -> URLRequest {
        var request = URLRequest(url: try server.resource)
        request.httpMethod = "POST"
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        return request
    }

    @Test(arguments: Sending.allCases, SessionKind.allCases)
    func `a body is sent again, whole, after a 401`(sending: Sending, kind: SessionKind) async throws {
        try await withServer { connection, _ in
            connection.reply(connection.number == 1 ? 401 : 201, "", fields: ["WWW-Authenticate": "Basic realm=x"])
        } _: { server in
            let session = kind.session(SampleTokens.service().0, origins: [try server.url])
            var request = try post(server)
            let response =
                switch sending {
                case .requestData:
                    try await {
                        request.httpBody = Data(Self.body.utf8)
                        return try await session.data(for: request).1
                    }()
                case .uploadedData: try await session.upload(for: request, from: Data(Self.body.utf8)).1
                case .uploadedFile:
                    try await withFile(Self.body) { try await session.upload(for: request, fromFile: $0).1 }
                }
            #expect(response.status == 201)
            #expect(server.authorizations == ["Bearer A1", "Bearer A2"])
            #expect(server.requests.map(\.body) == [Self.body, Self.body])
            #expect(
                server.requests.allSatisfy { $0.line.hasPrefix("POST") && $0.fields["content-type"] == "text/plain" }
            )
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `a stream is sent once, and its 401 goes to the caller and to the service`(kind: SessionKind) async throws {
        try await withServer { connection, _ in
            connection.reply(401, "")
        } _: { server in
            let (service, loader) = SampleTokens.service()
            let session = kind.session(service, origins: [try server.url])
            var request = try post(server)
            request.httpBodyStream = InputStream(data: Data(Self.body.utf8))
            #expect(try await session.data(for: request).1.status == 401)
            #expect(server.authorizations == ["Bearer A1"])
            #expect(service.currentToken == nil)
            #expect(loader.loads == 1)
        }
    }

    @Test(arguments: ["", "short", String(repeating: "x", count: 100_000)], SessionKind.allCases)
    func `an empty file, a short one and a long one arrive`(text: String, kind: SessionKind) async throws {
        try await withServer { connection, _ in
            connection.reply(200, "")
        } _: { server in
            let session = kind.session(SampleTokens.service().0, origins: [try server.url])
            let request = try post(server)
            _ = try await withFile(text) { try await session.upload(for: request, fromFile: $0) }
            #expect(server.requests.map(\.body) == [text])
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `a file that is not there is an error, and nothing is sent`(kind: SessionKind) async throws {
        try await withServer { connection, _ in
            connection.reply(200, "")
        } _: { server in
            let session = kind.session(SampleTokens.service().0, origins: [try server.url])
            let request = try post(server)
            let file = try await withFile("") { $0 }
            await #expect(throws: (any Error).self) { try await session.upload(for: request, fromFile: file) }
            #expect(server.requests.isEmpty)
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `a server that hangs up in the middle of a file harms nobody`(kind: SessionKind) async throws {
        // Answers at once what has more than 64 kB, and closes.
        let server = try RotatingAuthorizationServer()
        defer { server.stop() }
        let session = kind.session(SampleTokens.service().0, origins: [server.resource])
        var request = URLRequest(url: server.resource)
        request.httpMethod = "PUT"
        let text = String(repeating: "0123456789abcdef", count: 1 << 18)
        try await withFile(text) { [request] file in
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<40 {
                    group.addTask {
                        do {
                            #expect(try await session.upload(for: request, fromFile: file).1.status == 400)
                        } catch {
                            #expect(error is URLError)
                        }
                    }
                }
            }
        }
    }

    @Test(arguments: SessionKind.allCases)
    func `a download is the reply that counts, in a file`(kind: SessionKind) async throws {
        try await withServer { connection, _ in
            connection.reply(connection.number == 1 ? 401 : 200, connection.number == 1 ? "rejected" : Self.body)
        } _: { server in
            let session = kind.session(SampleTokens.service().0, origins: [try server.url])
            let (data, response) = try await session.contents(for: URLRequest(url: try server.resource))
            #expect(response.status == 200)
            #expect(String(decoding: data, as: UTF8.self) == Self.body)
        }
    }

    @Test func `a downloaded file is its caller's alone, also if there is nothing in it`() async throws {
        try await withServer { connection, _ in
            connection.reply(connection.number == 1 ? 200 : 204, "")
        } _: { server in
            let session = AsyncBearerSession(tokens: SampleTokens.service().0, origins: [try server.url])
            for status in [200, 204] {
                let (file, response) = try await session.download(from: try server.resource)
                #expect(response.status == status)
                #expect(try Data(contentsOf: file).isEmpty)
                let attributes = try FileManager.default.attributesOfItem(atPath: file.path(percentEncoded: false))
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
                try FileManager.default.removeItem(at: file)
            }
        }
    }

    @Test func `files that nobody asked for are gone`() throws {
        var file: TemporaryFile? = try TemporaryFile()
        var kept: TemporaryFile? = try TemporaryFile()
        func isThere(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path(percentEncoded: false)) }
        let (url, keptURL) = (try #require(file?.url), try #require(kept?.giveAway()))
        #expect(isThere(url) && isThere(keptURL))
        (file, kept) = (nil, nil)
        #expect(!isThere(url) && isThere(keptURL))
        try FileManager.default.removeItem(at: keptURL)
    }
}
