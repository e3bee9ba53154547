import AccessTokenAsync
import AccessTokenGCD
import Foundation
import TestSupport
import Testing

@Suite("The system's clocks", .eightAtATime)
struct SystemClockTests {
    @Test(arguments: [SystemClock(), SystemClock()] as [any AccessTokenClock])
    func `timers fire, once, and can be cancelled`(of clock: any AccessTokenClock) async {
        let fired = Event()
        _ = clock.schedule(after: 0.002) { fired.happen() }
        await fired.wait()
        let held = WeakReference<Event>(nil)
        do {
            let cancelled = Event()
            held.object = cancelled
            clock.schedule(after: 3600) { cancelled.happen() }.cancel()
        }
        // A timer that is cancelled lets go of what it would have called.
        await yieldUntil { held.object == nil }
        #expect(held.object == nil)
        #expect(abs(clock.now.timeIntervalSinceNow) < 60)
    }
}
