import Testing

@testable import AccessTokenOAuth

@Suite("Requests with proofs that are on their way to one server")
struct ProofWindowTests {
    private func enter(_ window: inout ProofWindow) -> Bool { window.enter() }

    private func leave(_ window: inout ProofWindow, _ end: ProofWindow.End, waiting: Int) -> Int {
        window.leave(end, waiting: waiting)
    }

    /// Requests that enter, and how they end, in their order.
    private func window(contested: Int = 0, taken: Int = 0) -> ProofWindow {
        var window = ProofWindow()
        for end in Array(repeating: ProofWindow.End.contested, count: contested)
            + Array(repeating: .taken, count: taken)
        {
            #expect(enter(&window) == true)
            #expect(leave(&window, end, waiting: 0) == 0)
        }
        return window
    }

    /// The limit doubles with each 64 proofs that are taken; beyond 64 there is none.
    static let limits: [(contested: Int, taken: Int, limit: Int?)] = [
        (0, 0, nil), (0, 1000, nil), (1, 0, 1), (3, 0, 1), (1, 63, 1), (1, 64, 2), (1, 127, 2), (1, 128, 4),
        (1, 6 * 64, 64), (1, 7 * 64, nil),
    ]

    @Test(arguments: limits)
    func `are as many as the server has taken`(_ row: (contested: Int, taken: Int, limit: Int?)) {
        #expect(window(contested: row.contested, taken: row.taken).limit == row.limit)
    }

    @Test func `are counted anew after the next contested nonce`() {
        var window = window(contested: 1, taken: 100)
        #expect(window.limit == 2)
        #expect(enter(&window) == true)
        _ = window.leave(.contested, waiting: 0)
        #expect(window.limit == 1)
        for count in 1...64 {
            #expect(enter(&window) == true)
            _ = window.leave(.taken, waiting: 0)
            #expect(window.limit == (count < 64 ? 1 : 2))
        }
    }

    @Test func `are not more for refusals and lost replies`() {
        var window = window(contested: 1)
        for _ in 0..<1000 {
            #expect(enter(&window) == true)
            _ = window.leave(.other, waiting: 0)
        }
        #expect(window.limit == 1)
    }

    /// Twenty are on their way when the first of them finds its nonce contested: the next one goes when all are back.
    @Test func `are all back before one goes alone, and then go one by one`() {
        var window = ProofWindow()
        for _ in 0..<20 { #expect(enter(&window) == true) }
        for left in (1...19).reversed() {
            #expect(leave(&window, .contested, waiting: 5) == 0)
            #expect(window.underWay == left)
            #expect(enter(&window) == false)
        }
        for waiting in (1...5).reversed() {
            #expect(leave(&window, .taken, waiting: waiting) == 1)
            #expect(enter(&window) == false)
        }
        #expect(leave(&window, .taken, waiting: 0) == 0)
        #expect(window.underWay == 0)
        #expect(enter(&window) == true)
    }

    @Test func `let all go that wait when there is no limit any more`() {
        var window = window(contested: 1, taken: 7 * 64 - 1)
        for _ in 0..<64 { #expect(enter(&window) == true) }
        #expect(enter(&window) == false)
        #expect(leave(&window, .taken, waiting: 40) == 40)
        #expect(window.limit == nil && window.underWay == 103)
    }

    // MARK: Alone

    @Test func `are a crowd from the moment when there are two until there is none`() {
        var window = ProofWindow()
        #expect(enter(&window) == true)
        #expect(!window.isCrowded)
        #expect(enter(&window) == true)
        #expect(window.isCrowded)
        // The nonce of the one that is left may come from a reply before that of the other one.
        #expect(leave(&window, .taken, waiting: 0) == 0)
        #expect(window.isCrowded)
        #expect(leave(&window, .other, waiting: 0) == 0)
        #expect(!window.isCrowded)
    }

    @Test func `are no crowd when each goes alone, and one again when two go`() {
        var window = window(contested: 1)
        #expect(enter(&window) == true)
        for _ in 0..<63 {
            #expect(leave(&window, .taken, waiting: 9) == 1)
            #expect(!window.isCrowded)
        }
        #expect(leave(&window, .taken, waiting: 9) == 2)
        #expect(window.isCrowded)
    }
}
