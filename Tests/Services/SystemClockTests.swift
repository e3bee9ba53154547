import AccessTokenAsync
import AccessTokenGCD
import Foundation
import TestSupport
import Testing

@Suite("The system's clock", .takesTurns)
struct SystemClockTests {
    @Test(arguments: [0.002, 0, -1, .nan] as [TimeInterval])
    func `fires a timer after any delay`(delay: TimeInterval) async {
        let (clock, fired) = (SystemClock(), Event())
        _ = clock.schedule(after: delay) { fired.happen() }
        await fired.wait()
    }

    @Test func `lets go of what a cancelled timer would have called`() async {
        let held = WeakReference<Event>(nil)
        do {
            let cancelled = Event()
            held.object = cancelled
            SystemClock().schedule(after: 3600) { cancelled.happen() }.cancel()
        }
        await yieldUntil { held.object == nil }
    }

    @Test func `tells the time of day`() {
        #expect(abs(SystemClock().now.timeIntervalSinceNow) < 60)
    }
}
