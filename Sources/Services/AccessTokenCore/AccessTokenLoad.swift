/// What a loader can ask about the load that it is called for.
public enum AccessTokenLoad {
    /// Whether anybody still wants the answer of the present load; `true` outside of a load.
    ///
    /// A loader that had to wait before it could send its request asks here, at the last moment. A load that is past
    /// its deadline, or whose session is over, or that has ended, is not wanted: the next load may be running, and
    /// would send the same refresh token. Throw `CancellationError` then. An actor needs this: its method begins when
    /// the actor is free, which may be late.
    ///
    /// ```swift
    /// guard AccessTokenLoad.isWanted else { throw CancellationError() }
    /// ```
    ///
    /// **Concurrency** Known in the task that calls the loader and in tasks that it starts with `Task {}`, and in a
    /// callback loader until `load(replacing:then:)` returns. It is read at once, and may change a moment later. A task
    /// that outlives its load is told `false`: what begins there anew, such as a login, begins in a `Task.detached`.
    public static var isWanted: Bool { LoadContext.current?.isWanted() ?? true }
}
