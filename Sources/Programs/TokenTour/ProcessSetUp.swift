import AccessTokenAsync
import AccessTokenOAuth
import Foundation

/// The set-ups of several processes, in the order in which they run.
enum ProcessSetUp: String, CaseIterable, Codable, TourSetUp {
    case naiveFile = "naive-file"
    case folder

    var isOurs: Bool { self != .naiveFile }

    var summary: String {
        switch self {
        case .naiveFile: "AsyncAccessTokenService in each process; one plain file, without a lock"
        case .folder: "AsyncAccessTokenService in each process; one FileCredentialStore"
        }
    }

    /// Opens the store of this set-up, in a folder of all processes of a run.
    func store(in folder: URL) -> any CredentialStore {
        switch self {
        case .naiveFile: NaiveFileStore(file: folder.appendingPathComponent("credential.json"))
        case .folder: FileCredentialStore(folder: folder.appendingPathComponent("session"))
        }
    }

    /// The service of one process.
    func service(_ endpoint: TokenEndpoint, _ store: any CredentialStore) -> AsyncAccessTokenService {
        AsyncAccessTokenService(
            loader: isOurs
                ? ThrottlingLoader(RetryingLoader(OAuthLoader(endpoint: endpoint, store: store)))
                : NaiveTokenLoader(endpoint: endpoint, store: store)
        )
    }
}

/// The file of many command-line tools: read when needed, written when changed, and never locked.
struct NaiveFileStore: CredentialStore {
    let file: URL

    func load() async throws -> CredentialRecord? {
        guard let data = try? Data(contentsOf: file) else { return nil }
        return try JSONDecoder().decode(CredentialRecord.self, from: data)
    }

    func update(_ body: CredentialUpdate) async throws -> CredentialRecord? {
        let old = try await load()
        switch try await body(old) {
        case .keep: break
        case .replace(let credential):
            let record = CredentialRecord(credential: credential, version: (old?.version ?? 0) + 1)
            // Whole, at least: many do not even do that.
            try JSONEncoder().encode(record).write(to: file, options: .atomic)
        case .remove: try? FileManager.default.removeItem(at: file)
        }
        return try await load()
    }
}
