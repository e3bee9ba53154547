// Calls every handler that was formed on the main actor: none of them may trap.
import AccessTokenAdapters
import Dispatch
import Observation

@MainActor
func everyHandler() async {
    let closures = ClosuresOfMainActor()
    await withCheckedContinuation { next in closures.call { next.resume() } }
    await withCheckedContinuation { next in
        closures.callOnAnyQueue(AccessTokenService(loader: Callbacks.Value())) { next.resume() }
    }
    await withCheckedContinuation { next in
        closures.callWeakly(CallbackServiceAdapter(of: AsyncAccessTokenService(loader: Async.OnMainActor()))) {
            next.resume()
        }
    }
    await withCheckedContinuation { next in closures.send(closures.watched()) { next.resume() } }
    _ = try? await closures.send()
    closures.callThatCapturesNothing(closures.watched())
    closures.callThatCapturesNothing(CallbackServiceAdapter(of: closures.watchedActor()))
    closures.callThatCapturesNothing(Callbacks.OnMainActor())
    _ = try? await closures.watched().token()
    _ = try? await closures.watchedActor().token()
    await withCheckedContinuation { next in closures.signOut { next.resume() } }

    for loader in [Callbacks.Value(), Callbacks.Actor(), Callbacks.OnMainActor()] as [any AccessTokenLoader] {
        _ = try? await AccessTokenService(loader: loader).token()
        _ = try? await AsyncAccessTokenService(loader: AsyncLoaderAdapter(of: loader)).token()
    }
    for loader in [Async.Value(), Async.Actor(), Async.OnMainActor()]
        as [any AsyncAccessTokenLoader]
    {
        _ = try? await AsyncAccessTokenService(loader: loader).token()
        _ = try? await AccessTokenService(loader: CallbackLoaderAdapter(of: loader)).token()
    }
}

/// A session that is observed on the main actor, of either service.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
@MainActor
func everySession() async {
    for isAsync in [true, false] {
        let (queue, actor) = (
            AccessTokenService(loader: Callbacks.Value()), AsyncAccessTokenService(loader: Async.Value())
        )
        let stored: @Sendable () async throws -> StoredSession? = { StoredSession(subject: "user") }
        let session = isAsync ? ObservedSession(of: actor, stored: stored) : ObservedSession(of: queue, stored: stored)
        let change = AsyncStream<Void>.makeStream()
        let before = withObservationTracking {
            session.status
        } onChange: {
            change.continuation.finish()
        }
        if isAsync { _ = try? await actor.token() } else { _ = try? await queue.token() }
        for await _ in change.stream {}
        await session.look()
        precondition(before == .unknown && session.status == .signedIn && session.subject == "user")
    }
}

await everyHandler()
if #available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *) { await everySession() }
print("No handler traps.")
