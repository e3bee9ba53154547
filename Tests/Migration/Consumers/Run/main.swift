// Calls every handler that was formed on the main actor: none of them may trap.
import AccessTokenAdapters
import Dispatch

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

await everyHandler()
print("No handler traps.")
