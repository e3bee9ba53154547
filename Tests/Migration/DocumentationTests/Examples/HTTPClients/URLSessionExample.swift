import AccessTokenAsync
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

nonisolated enum URLSessionExample {
    struct Pictures: Sendable {
        let url: URL
        let tokens: any AsyncAccessTokenProviding
        let session: URLSession

        /// The new file is yours: move it, or remove it.
        func download(_ name: String) async throws -> URL {
            let url = url.appendingPathComponent(name)
            let (file, response) = try await tokens.withToken { (reply: (URL, URLResponse)) in
                status(of: reply.1) == 401
            } send: { token in
                var request = URLRequest(url: url)
                request.setValue("Bearer \(token.value)", forHTTPHeaderField: "Authorization")
                let reply = try await session.download(for: request)
                // The body of a refusal is a file as well.
                if status(of: reply.1) != 200 { try? FileManager.default.removeItem(at: reply.0) }
                return reply
            }
            guard status(of: response) == 200 else { throw URLError(.badServerResponse) }
            return file
        }

        private func status(of response: URLResponse) -> Int? { (response as? HTTPURLResponse)?.statusCode }
    }
}
