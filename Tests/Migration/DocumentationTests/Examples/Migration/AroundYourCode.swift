import AccessTokenGCD
import Foundation
import SampleShared

struct LoaderAroundYours: AccessTokenLoader {
    let loader: any YourLoader

    func load(replacing old: AccessToken?, then handler: @escaping AccessTokenHandler) {
        loader.load { result in
            handler(result.map { AccessToken(value: $0.value, expiration: $0.expiresAt) })
        }
    }
}

/// Stands for the loader that an app has already.
nonisolated protocol YourLoader: Sendable {
    func load(then handler: @escaping @Sendable (Result<LegacyToken, any Error>) -> Void)
}

/// Stands for the requests that an app has already.
nonisolated struct YourAPI: Sendable {
    let answer: @Sendable (_ bearer: String) -> Result<[String], any Error>

    func friends(bearer: String, then handler: @escaping @Sendable ([String]?, (any Error)?) -> Void) {
        switch answer(bearer) {
        case .success(let names): handler(names, nil)
        case .failure(let error): handler(nil, error)
        }
    }

    func friends(bearer: String) async throws -> [String] {
        try await withCheckedThrowingContinuation { continuation in
            friends(bearer: bearer) { names, error in
                if let names {
                    continuation.resume(returning: names)
                } else {
                    continuation.resume(throwing: error ?? URLError(.badServerResponse))
                }
            }
        }
    }
}
