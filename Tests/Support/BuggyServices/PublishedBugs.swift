package import AccessTokenAsync
package import AccessTokenCore
package import AccessTokenGCD

/// The first version of "Avoiding race conditions in Swift": no queue yet, and a load for each caller.
package final class FirstVersionService: AccessTokenProviding {
    private let loader: any AccessTokenLoader
    private let token = Locked<AccessToken?>(nil)

    package init(loader: any AccessTokenLoader) { self.loader = loader }

    @available(*, renamed: "token()")
    package func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
        if let token = token.withLock({ $0 }) {
            handler(.success(token))
            return .answered
        }
        loader.load(replacing: nil) { [self] result in
            if case .success(let new) = result { token.withLock { $0 = new } }
            handler(result)
        }
        return .answered
    }

    package func invalidate(_ rejected: AccessToken) { token.withLock { $0 = nil } }
    package func signOut(then done: @escaping @Sendable () -> Void) { done() }
}

/// The last version of the same article, with a lock for its queue: pending handlers, and a `[weak self]` that loses
/// them.
package final class WeakSelfService: AccessTokenProviding {
    private struct State {
        var token: AccessToken?
        var pendingHandlers: [AccessTokenHandler] = []
    }

    private let loader: any AccessTokenLoader
    private let state = Locked(State())

    package init(loader: any AccessTokenLoader) { self.loader = loader }

    @available(*, renamed: "token()")
    package func retrieveToken(then handler: @escaping AccessTokenHandler) -> AccessTokenRetrieval {
        let isFirst = state.withLock { state in
            state.pendingHandlers.append(handler)
            return state.pendingHandlers.count == 1
        }
        guard isFirst else { return .answered }
        loader.load(replacing: nil) { [weak self] result in self?.handle(result) }
        return .answered
    }

    package func invalidate(_ rejected: AccessToken) {}
    package func signOut(then done: @escaping @Sendable () -> Void) { done() }

    private func handle(_ result: Result<AccessToken, any Error>) {
        let handlers = state.withLock { state in
            defer { state.pendingHandlers = [] }
            return state.pendingHandlers
        }
        for handler in handlers { handler(result) }
    }
}

/// An actor, and therefore safe, as many believe: others come in while it awaits the load.
package actor UnguardedActor: AsyncAccessTokenProviding {
    private let loader: any AsyncAccessTokenLoader
    private var cached: AccessToken?

    package init(loader: any AsyncAccessTokenLoader) { self.loader = loader }

    package func token() async throws -> AccessToken {
        if let cached { return cached }
        let new = try await loader.load(replacing: nil)
        cached = new
        return new
    }

    package func invalidate(_ rejected: AccessToken) { cached = nil }
    package func signOut() {}
}

/// One shared task, which every caller clears when it is done with its answer: also when a newer one is there by then.
package actor DeferClearingActor: AsyncAccessTokenProviding {
    private let loader: any AsyncAccessTokenLoader
    private let save: @Sendable (AccessToken) async -> Void
    private var cached: AccessToken?
    private var tokenTask: Task<AccessToken, any Error>?

    package init(loader: any AsyncAccessTokenLoader, save: @escaping @Sendable (AccessToken) async -> Void) {
        self.loader = loader
        self.save = save
    }

    package func token() async throws -> AccessToken {
        if let cached { return cached }
        defer { tokenTask = nil }
        let task = tokenTask ?? Task { [loader] in try await loader.load(replacing: nil) }
        tokenTask = task
        let new = try await task.value
        cached = new
        await save(new)
        return new
    }

    package func invalidate(_ rejected: AccessToken) { cached = nil }
    package func signOut() {}
}

/// One shared task, which stays when it has failed: every later caller gets the first error.
package actor NeverClearingActor: AsyncAccessTokenProviding {
    private let loader: any AsyncAccessTokenLoader
    private var tokenTask: Task<AccessToken, any Error>?

    package init(loader: any AsyncAccessTokenLoader) { self.loader = loader }

    package func token() async throws -> AccessToken {
        let task = tokenTask ?? Task { [loader] in try await loader.load(replacing: nil) }
        tokenTask = task
        return try await task.value
    }

    package func invalidate(_ rejected: AccessToken) { tokenTask = nil }
    package func signOut() {}
}

/// One shared task, which the cancellation of any of its waiters cancels for all of them.
package actor CancelForwardingActor: AsyncAccessTokenProviding {
    private let loader: any AsyncAccessTokenLoader
    private var tokenTask: Task<AccessToken, any Error>?

    package init(loader: any AsyncAccessTokenLoader) { self.loader = loader }

    package func token() async throws -> AccessToken {
        let task = tokenTask ?? Task { [loader] in try await loader.load(replacing: nil) }
        tokenTask = task
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    package func invalidate(_ rejected: AccessToken) { tokenTask = nil }
    package func signOut() {}
}

/// One shared task, which the caller that started it clears when it goes on: until then others get what the task brought,
/// also if that was rejected meanwhile.
package actor FinishedTaskActor: AsyncAccessTokenProviding {
    private let loader: any AsyncAccessTokenLoader
    private var cached: AccessToken?
    private var tokenTask: Task<AccessToken, any Error>?

    package init(loader: any AsyncAccessTokenLoader) { self.loader = loader }

    package func token() async throws -> AccessToken {
        if let cached { return cached }
        if let tokenTask { return try await tokenTask.value }
        let task = Task { try await load() }
        tokenTask = task
        defer { tokenTask = nil }
        return try await task.value
    }

    package func invalidate(_ rejected: AccessToken) { if cached == rejected { cached = nil } }
    package func signOut() {}

    private func load() async throws -> AccessToken {
        let new = try await loader.load(replacing: nil)
        cached = new
        return new
    }
}

/// The load runs in the task of its first caller, and ends with it; those who joined fail with it.
package actor LeadersTaskActor: AsyncAccessTokenProviding {
    private let loader: any AsyncAccessTokenLoader
    private var isLoading = false
    private var waiters: [CheckedContinuation<AccessToken, any Error>] = []

    package init(loader: any AsyncAccessTokenLoader) { self.loader = loader }

    package func token() async throws -> AccessToken {
        guard !isLoading else {
            return try await withCheckedThrowingContinuation { waiters.append($0) }
        }
        isLoading = true
        let result = await Result { () async throws in try await loader.load(replacing: nil) }
        isLoading = false
        for waiter in waiters { waiter.resume(with: result) }
        waiters = []
        return try result.get()
    }

    package func invalidate(_ rejected: AccessToken) {}
    package func signOut() {}
}

/// Sign-out clears the token, and the load that is running brings it back.
package actor LateAnswerActor: AsyncAccessTokenProviding {
    private let loader: any AsyncAccessTokenLoader
    private var cached: AccessToken?
    private var isSignedOut = false
    private var tokenTask: Task<AccessToken, any Error>?

    package init(loader: any AsyncAccessTokenLoader) { self.loader = loader }

    package func token() async throws -> AccessToken {
        if let cached { return cached }
        if isSignedOut { throw AccessTokenError.signedOut }
        let task = tokenTask ?? Task { try await load() }
        tokenTask = task
        let new = try await task.value
        if isSignedOut { throw AccessTokenError.signedOut }
        return new
    }

    package func invalidate(_ rejected: AccessToken) { cached = nil }

    package func signOut() async {
        cached = nil
        isSignedOut = true
        await loader.signOut()
    }

    private func load() async throws -> AccessToken {
        defer { tokenTask = nil }
        let new = try await loader.load(replacing: nil)
        cached = new
        return new
    }
}

extension Result where Failure == any Error, Success: Sendable {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
