import AccessTokenContract
import AccessTokenCore
import AccessTokenSynchronization
import Dispatch
import Foundation
import TestSupport
import Testing

@Suite("An app that starts", .takesTurns, .endsHangs)
struct LaunchTests {
    let loader = ControlledLoader()
    let clock = ManualClock()

    /// A service of either kind.
    struct Service: Sendable {
        let tokens: any AsyncAccessTokenProviding
        let currentToken: @Sendable () -> AccessToken?
        var loaderQueue = DispatchQueue(label: "loader")

        /// Returns when the loads that were started have reached the loader, and answers have reached the service.
        func settle() async {
            await tokens.invalidate(AccessToken(value: "another"))
            loaderQueue.sync {}
        }
    }

    /// A service whose loader is called soon: that no load has started can be seen.
    private func service(_ engine: Engine, token: AccessToken? = nil) -> Service {
        switch engine {
        case .queue:
            let loaderQueue = DispatchQueue(label: "loader")
            let service = AccessTokenService(
                token: token,
                loader: loader,
                policy: AccessTokenPolicy(),
                clock: clock,
                loaderOn: loaderQueue,
                handlersOn: HeldQueue(),
                events: nil
            )
            return Service(tokens: service, currentToken: { service.currentToken }, loaderQueue: loaderQueue)
        case .actor:
            let service = AsyncAccessTokenService(
                token: token,
                loader: loader,
                policy: AccessTokenPolicy(),
                clock: clock,
                startTask: TaskStarter(executor: InlineExecutor()),
                events: nil
            )
            return Service(tokens: service) { service.currentToken }
        }
    }

    private func token(_ value: String, lasting seconds: Double = 3_600) -> AccessToken {
        AccessToken(value: value, expiration: clock.now + seconds)
    }

    @Test(arguments: Engine.allCases)
    func `with a valid token that was stored loads nothing`(_ engine: Engine) async throws {
        let stored = token("stored")
        let service = service(engine, token: stored)
        #expect(service.currentToken() == stored)
        #expect(try await service.tokens.token() == stored)
        await service.settle()
        #expect(loader.loads.isEmpty)
    }

    @Test(arguments: Engine.allCases)
    func `with an expired token that was stored loads once, told what the load replaces (C11)`(_ engine: Engine)
        async throws
    {
        let (stored, new) = (token("stored", lasting: -1), token("new"))
        let service = service(engine, token: stored)
        #expect(service.currentToken() == nil)
        let callers = (1...10).map { _ in Task { try await service.tokens.token() } }
        let load = await loader.started(1)
        #expect(load?.replacing == stored)
        load?.answer(.success(new))
        for caller in callers { #expect(try await caller.valueInTime == new) }
        #expect(loader.loads.count == 1)
    }

    enum Login: CaseIterable {
        case withExpiredToken, withoutToken
    }

    /// Two loads at once would send the same refresh token, and the server would end the session.
    @Test(arguments: Engine.allCases, Login.allCases)
    func `and signs in during its first load does not load beside it (O9)`(_ engine: Engine, _ login: Login)
        async throws
    {
        let service = service(engine)
        let first = Task { try await service.tokens.token() }
        let load = await loader.started(1)
        let expired = login == .withoutToken ? nil : token("expired", lasting: -1)
        await service.tokens.beginSession(with: expired)
        let second = Task { try await service.tokens.token() }
        await service.settle()
        #expect(loader.loads.count == 1)
        load?.answer(.success(token("of the former session")))
        let next = await loader.started(2)
        #expect(next?.replacing == expired)
        let new = token("new")
        next?.answer(.success(new))
        #expect(try await first.valueInTime == new)
        #expect(try await second.valueInTime == new)
        #expect(service.currentToken() == new)
        #expect(loader.loads.count == 2)
    }

    @Test(arguments: Engine.allCases)
    func `and signs in during a load that hangs waits no longer than that load's deadline (O9)`(_ engine: Engine)
        async throws
    {
        let service = service(engine)
        let first = Task { try await service.tokens.token() }
        let stuck = await loader.started(1)
        clock.advance(by: 30)
        await service.tokens.beginSession()
        await service.settle()
        #expect(loader.loads.count == 1)
        clock.advance(by: 30)
        let next = await loader.started(2)
        let new = token("new")
        next?.answer(.success(new))
        #expect(try await first.valueInTime == new)
        stuck?.answer(.success(token("of the former session")))
        await service.settle()
        #expect(service.currentToken() == new)
    }

    @Test(arguments: Engine.allCases)
    func `and logs in with a valid token during a load that hangs waits for nothing`(_ engine: Engine) async throws {
        let service = service(engine)
        let first = Task { try await service.tokens.token() }
        _ = await loader.started(1)
        let new = token("new")
        await service.tokens.beginSession(with: new)
        #expect(try await first.valueInTime == new)
        #expect(try await service.tokens.token() == new)
        await service.settle()
        #expect(loader.loads.count == 1)
    }
}
