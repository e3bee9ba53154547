import AccessTokenAsync
import AccessTokenGCD
import Foundation
import TestSupport
import Testing

@Suite("The system's clock", .eightAtATime)
struct SystemClockTests {
    @Test(arguments: [0.002, 0, -1, .nan] as [TimeInterval])
    func `fires a timer after any delay, and lets go of a cancelled one`(delay: TimeInterval) async {
        let (clock, fired) = (SystemClock(), Event())
        _ = clock.schedule(after: delay) { fired.happen() }
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
