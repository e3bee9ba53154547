import AccessTokenAdapters
import Foundation
import LoopbackAuthorizationServer
import TestSupport
import Testing

@testable import AccessTokenOAuth

@Suite("Services of both kinds on one credential, at a server that rotates", .takesTurns, .endsHangs)
struct ServiceTests {
    private static let rounds = 10
    private static let callers = 100
    private let place = TemporaryFolder()

    enum Sharing: CaseIterable, Sendable {
        /// One store object, as two modules of a program have it.
        case object
        /// Two openings of a folder, as two processes have them.
        case folder
    }

    /// Round after round, all callers find their token rejected, and must end with the same new one.
    @Test(arguments: Sharing.allCases)
    func `exchange once for all callers of both, each time that their token is rejected`(sharing: Sharing) async throws
    {
        try await withRotatingServer { (server) async throws in
            let credential = Credential(refreshToken: server.signIn().refreshToken)
            let memory = MemoryCredentialStore()
            let loaders = (0..<2).map { _ in
                let store: any CredentialStore =
                    sharing == .object ? memory : FileCredentialStore(folder: place.session)
                return OAuthLoader(endpoint: server.endpoint, store: store)
            }
            try await loaders[0].signIn(credential)
            let services = Services(loaders[0], loaders[1], policy: .withoutLoadDeadline)
            var rejected: AccessToken?
            for round in 1...Self.rounds {
                let results = await services.callers(Self.callers) { [rejected] service in
                    if let rejected { await service.invalidate(rejected) }
                    return try await service.token()
                }
                let values = Set(try results.map { try $0.get() })
                #expect(values.count == 1)
                #expect(server.tally.tokenRequests == round)
                rejected = values.first
            }
            #expect(server.tally.reuses == 0)
        }
    }

    @Test func `a spent refresh token reaches all callers once as the need to sign in, and signing in heals`()
        async throws
    {
        try await withRotatingServer { (server) async throws in
            let credential = Credential(refreshToken: server.signIn().refreshToken)
            let loader = OAuthLoader(endpoint: server.endpoint, store: MemoryCredentialStore(credential))
            // A thief was faster.
            _ = try await server.endpoint.exchange(.refreshToken(try #require(credential.refreshToken)))
            let service = AsyncAccessTokenService(loader: loader, policy: .withoutLoadDeadline)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<Self.callers {
                    group.addTask {
                        let error = await #expect(throws: (any Error).self) { try await service.token() }
                        #expect((error as? OAuthError)?.requiresSignIn ?? (error as? AccessTokenError == .signedOut))
                    }
                }
            }
            #expect(server.tally.tokenRequests == 2)
            #expect(server.tally.reuses == 1)
            try await loader.signIn(Credential(refreshToken: server.signIn().refreshToken))
            _ = try await service.token()
        }
    }
}
