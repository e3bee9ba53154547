import AccessTokenOAuth
import Foundation

#if Postgres
import AccessTokenPostgres
#endif

/// A credential that is read and replaced, beside the bare calls of the system that this needs.
enum StoreRows {
    static func all(_ isQuick: Bool) -> [Comparison] {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("benchmarks-store-\(getuid())")
        var rows = [
            comparison("folder", isQuick, BareFolder(path: folder.path).replace) { FileCredentialStore(folder: folder) }
        ]
        #if Postgres
        if let connection = ProcessInfo.processInfo.environment["ACCESS_TOKEN_POSTGRES"] {
            let bare = BarePostgres(connection: connection)
            rows.append(
                comparison("PostgreSQL", isQuick, bare.replace) {
                    PostgresCredentialStore(connection, name: BarePostgres.name)
                }
            )
        }
        #endif
        return rows
    }

    static let credential = Credential(
        accessToken: AccessToken(value: String(repeating: "a", count: 800), expiration: .distantFuture),
        refreshToken: String(repeating: "r", count: 800)
    )

    private static func comparison(
        _ kind: String,
        _ isQuick: Bool,
        _ bare: @escaping @Sendable () throws -> Void,
        _ store: @escaping @Sendable () -> any CredentialStore
    ) -> Comparison {
        Comparison(
            title: "update(_:), \(kind)",
            rounds: isQuick ? 5 : 21,
            contenders: [
                Contender("bare calls") {
                    // There must be one to replace.
                    try await store().update { $0 == nil ? .replace(credential) : .keep }
                    return try await repeated { try bare() }
                },
                Contender("the store") {
                    let store = store()
                    return try await repeated { try await store.update { _ in .replace(credential) } }
                },
            ]
        )
    }

    /// From the pool, where such calls are made: a caller on another actor pays for two hops more.
    @concurrent
    private static func repeated(_ call: @Sendable () async throws -> Void) async throws -> Sample {
        let calls = 10
        let watch = Stopwatch()
        for _ in 0..<calls { try await call() }
        return watch.sample(per: calls)
    }
}
