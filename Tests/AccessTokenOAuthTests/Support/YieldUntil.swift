/// Lets other tasks run until `condition` holds, for what gives no event; gives up after a minute, so that a test that
/// must fail does so.
func yieldUntil(_ condition: () -> Bool) async {
    let start = ContinuousClock.now
    while !condition(), start.duration(to: .now) < .seconds(60) { await Task.yield() }
}
