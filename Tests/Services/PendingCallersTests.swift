import AccessTokenCore
import Testing

struct PendingCallersTests {
    @Test func `a caller adds itself while the arrays are open, and not before or after`() {
        let callers = PendingCallers()
        let early = callers.appendIfOpen(.handler { _ in })
        #expect(early == nil)
        callers.open()
        let ids = [callers.appendIfOpen(.handler { _ in }), callers.appendIfOpen(.task(Suspension()))].compactMap(
            \.self
        )
        #expect(ids.count == 2 && ids == ids.sorted())
        let closed = callers.close()
        #expect(closed == 2)
        let late = callers.appendIfOpen(.handler { _ in })
        #expect(late == nil)
        let count = callers.count
        #expect(count == 2)
    }

    @Test func `a task may be answered before it suspends`() async throws {
        let token = AccessToken(value: "a", expiration: nil)
        let task = Suspension()
        Answer(to: .task(task), .success(token)).resumeTasks()
        #expect(try await task.answer() == token)
    }
}
