import AccessTokenAsync
import AccessTokenGCD

/// Gets a token, requests the resource, and tries once more after a 401.
protocol Caller: Sendable {
    func call(then handler: @escaping @Sendable (CallEnd) -> Void)
}

/// A caller with callbacks.
struct CallbackCaller: Caller {
    let service: any AccessTokenProviding
    let resource: ResourceClient

    func call(then handler: @escaping @Sendable (CallEnd) -> Void) {
        attempt(isSecond: false, then: handler)
    }

    private func attempt(isSecond: Bool, then handler: @escaping @Sendable (CallEnd) -> Void) {
        service.retrieveToken { result in
            switch result {
            case .success(let token): use(token, isSecond: isSecond, then: handler)
            case .failure(let error): handler(.unserved("no token: \(error)"))
            }
        }
    }

    private func use(_ token: AccessToken, isSecond: Bool, then handler: @escaping @Sendable (CallEnd) -> Void) {
        resource.request(with: token) { result in
            switch result {
            case .success(401) where !isSecond:
                // The token that was sent: by now the service may have a newer one.
                service.invalidate(token)
                attempt(isSecond: true, then: handler)
            case .success(let status): handler(CallEnd(status: status))
            case .failure(let error): handler(.unserved("\(error)"))
            }
        }
    }
}

/// The same caller as a task.
struct AsyncCaller: Caller {
    let service: any AsyncAccessTokenProviding
    let resource: ResourceClient

    func call(then handler: @escaping @Sendable (CallEnd) -> Void) {
        Task { handler(await call()) }
    }

    private func call() async -> CallEnd {
        do {
            let token = try await service.token()
            let status = try await resource.request(with: token)
            guard status == 401 else { return CallEnd(status: status) }
            await service.invalidate(token)
            return CallEnd(status: try await resource.request(with: try await service.token()))
        } catch {
            return .unserved("\(error)")
        }
    }
}

/// How a call ended.
enum CallEnd: Sendable {
    case served
    /// With the reason, in the same words for all callers that it applies to.
    case unserved(String)

    init(status: Int) {
        self = (200..<300).contains(status) ? .served : .unserved("the resource answered \(status)")
    }
}
