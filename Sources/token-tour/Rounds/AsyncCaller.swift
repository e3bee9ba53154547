import AccessTokenAsync
import AccessTokenOAuth

/// A caller of the async world: a token, the resource, and once more after a 401.
struct AsyncCaller: Sendable {
    let service: any AsyncAccessTokenProviding
    let resource: ResourceClient
    let log: CallerLog

    /// Whether it was served in the end.
    func call() async -> CallEnd {
        await attempt(isSecond: false)
    }

    private func attempt(isSecond: Bool) async -> CallEnd {
        log.asks(again: isSecond)
        do {
            let token = try await service.token()
            log.hears(token)
            return await use(token, isSecond: isSecond)
        } catch {
            log.hears(error)
            return .noToken(error)
        }
    }

    private func use(_ token: AccessToken, isSecond: Bool) async -> CallEnd {
        log.sends(token)
        do {
            let reply = try await resource.request(with: token)
            log.receives(reply, for: token)
            guard reply.status == 401, !isSecond else { return .answered(reply.status) }
            // The token that was sent: by now the service may have a newer one.
            log.rejects(token)
            await service.invalidate(token)
            return await attempt(isSecond: true)
        } catch {
            log.receives(error)
            return .unserved("\(error)")
        }
    }
}
