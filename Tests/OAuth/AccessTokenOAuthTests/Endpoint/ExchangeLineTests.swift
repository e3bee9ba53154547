import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

/// Tables of what happens, and of who is let in then; the clock is a number.
///
/// `EVERY_SEQUENCE=long` tries a hundred times as many orders of answers.
@Suite("The line of an endpoint's exchanges")
struct ExchangeLineTests {
    enum Event {
        /// A load comes; its number.
        case load(Int)
        /// A load comes back whose grant is old; its number.
        case returning(Int)
        /// A login comes; its number.
        case person(Int)
        case cancel(Int)
        /// An exchange is answered, and has ended.
        case answer
        /// An exchange is refused by 429 with `Retry-After`, and has ended.
        case refusal(TimeInterval)
        /// An exchange is answered so, and has ended.
        case reply(Int, retryAfter: TimeInterval?)
        case pass(TimeInterval)
    }

    /// A line with its clock, which looks again when the line says so, as the gate does.
    private struct Clockwork {
        var line: ExchangeLine
        var now: TimeInterval = 1000
        /// In which volleys those in flight were sent, in this order.
        private var volleys: [Int] = []
        /// Which of those in flight ends next.
        var next = 0

        init(line: ExchangeLine) { self.line = line }

        mutating func steps(after event: Event) -> [ExchangeLine.Step] {
            switch event {
            case .load(let number): line.enter(number, .renewal, at: now)
            case .returning(let number): line.enter(number, .returning, at: now)
            case .person(let number): line.enter(number, .other, at: now)
            case .cancel(let number): line.cancel(number)
            case .answer: end(200, nil)
            case .refusal(let seconds): end(429, seconds)
            case .reply(let status, let retryAfter): end(status, retryAfter)
            case .pass(let seconds): return pass(seconds)
            }
            return looked()
        }

        private mutating func looked() -> [ExchangeLine.Step] {
            let steps = line.next(at: now)
            for case .send in steps { volleys.append(line.volley) }
            return steps
        }

        private mutating func end(_ status: Int, _ retryAfter: TimeInterval?) {
            guard volleys.indices.contains(next) else {
                Issue.record("nothing is in flight that could end")
                return
            }
            line.answered(status, retryAfter: retryAfter, of: volleys.remove(at: next), at: now)
            line.ended()
        }

        private mutating func pass(_ seconds: TimeInterval) -> [ExchangeLine.Step] {
            let end = now + seconds
            var steps: [ExchangeLine.Step] = []
            while let look = line.nextLook(at: now), look <= end {
                // A look that is due at once would be due for ever.
                guard look > now else {
                    Issue.record("looks again without end")
                    break
                }
                now = look
                steps += looked()
            }
            now = end
            return steps
        }
    }

    /// Who is let in, by number; with what error those are told who are not.
    private static func text(_ step: ExchangeLine.Step) -> String {
        switch step {
        case .send(let number): "\(number)"
        case .fail(let number, let error):
            switch error.reason {
            case .unavailable(let status, let retryAfter, _): "\(number): \(status) for \(Int(retryAfter ?? -1))"
            case .unreachable: "\(number): unreachable"
            default: "\(number): \(error)"
            }
        }
    }

    /// Each event with who is let in by it.
    struct Row: CustomTestStringConvertible {
        let title: String
        let limit: Int
        let events: [(Event, String)]

        init(_ title: String, _ limit: Int, _ events: [(Event, String)]) {
            (self.title, self.limit, self.events) = (title, limit, events)
        }

        var testDescription: String { title }
    }

    private static let rows = [
        Row(
            "lets so many in, and then one for each that ends, in the order of their arrival",
            2,
            [
                (.load(1), "1"), (.load(2), "2"), (.load(3), ""), (.load(4), ""), (.load(5), ""),
                (.answer, "3"), (.reply(400, retryAfter: nil), "4"), (.answer, "5"), (.answer, ""), (.answer, ""),
                (.load(6), "6"), (.load(7), "7"), (.load(8), ""),
            ]
        ),
        Row(
            "passes on the turn of one that was cancelled, wherever it stood",
            1,
            [
                (.load(1), "1"), (.load(2), ""), (.load(3), ""), (.load(4), ""), (.load(5), ""),
                (.cancel(2), ""), (.answer, "3"), (.cancel(5), ""), (.cancel(3), ""), (.answer, "4"), (.answer, ""),
                (.load(6), "6"),
            ]
        ),
        Row(
            "goes on beside an account that the server refuses alone, also after a pause",
            2,
            [
                (.load(1), "1"), (.load(2), "2"), (.load(3), ""), (.load(4), ""), (.load(5), ""), (.load(6), ""),
                (.refusal(3600), "3"), (.answer, "4"), (.refusal(3600), "5"), (.answer, "6"), (.refusal(5), ""),
                (.refusal(5), ""), (.load(7), ""), (.load(8), ""), (.load(9), ""), (.pass(5), "7"),
                (.refusal(3600), "8"), (.answer, "9"), (.refusal(3600), ""), (.load(10), "10"),
            ]
        ),
        Row(
            "lets nobody in before the end of the pause, and then one, and one more with each answer",
            4,
            [
                (.load(1), "1"), (.load(2), "2"), (.load(3), "3"), (.load(4), "4"), (.load(5), ""), (.load(6), ""),
                (.refusal(5), "5"), (.refusal(5), ""), (.answer, ""), (.answer, ""), (.answer, ""), (.load(7), ""),
                (.pass(4.5), ""), (.load(8), ""), (.pass(0.5), "6"), (.load(9), ""), (.answer, "7 8"), (.answer, "9"),
            ]
        ),
        Row(
            "waits for the longest of the pauses that those in flight are told, and counts them as one",
            8,
            [
                (.load(1), "1"), (.load(2), "2"), (.load(3), "3"), (.load(4), "4"), (.refusal(2), ""),
                (.refusal(2), ""),
                (.pass(1), ""), (.refusal(9), ""), (.refusal(1), ""), (.load(5), ""), (.load(6), ""), (.load(7), ""),
                (.load(8), ""), (.load(9), ""), (.load(10), ""), (.load(11), ""), (.load(12), ""), (.pass(8), ""),
                (.pass(1), "5"), (.answer, "6 7"), (.answer, "8 9"), (.answer, "10 11"), (.answer, "12"),
            ]
        ),
        Row(
            "sends two after each pause for as long as the server refuses both",
            4,
            [
                (.load(1), "1"), (.load(2), "2"), (.refusal(5), ""), (.refusal(5), ""), (.load(3), ""), (.load(4), ""),
                (.load(5), ""), (.load(6), ""), (.load(7), ""), (.pass(5), "3"), (.refusal(5), "4"), (.refusal(5), ""),
                (.pass(5), "5"), (.refusal(5), "6"), (.refusal(5), ""), (.pass(5), "7"),
            ]
        ),
        Row(
            "lets a person in after one load, and a load after one person, however many of the others there are",
            1,
            [
                (.load(1), "1"), (.load(2), ""), (.load(3), ""), (.load(4), ""), (.person(5), ""), (.person(6), ""),
                (.answer, "5"), (.answer, "2"), (.answer, "6"), (.answer, "3"), (.person(7), ""), (.person(8), ""),
                (.answer, "7"), (.answer, "4"), (.answer, "8"),
            ]
        ),
        Row(
            "lets loads that come back in before other loads, and by turns with people",
            1,
            [
                (.load(1), "1"), (.load(2), ""), (.person(3), ""), (.person(4), ""), (.returning(5), ""),
                (.returning(6), ""), (.answer, "3"), (.answer, "5"), (.answer, "4"), (.answer, "6"), (.answer, "2"),
            ]
        ),
        Row(
            "counts a volley once whose refusals outlast the pause, and hears no answer of it",
            8,
            [
                (.load(1), "1"), (.load(2), "2"), (.load(3), "3"), (.load(4), "4"), (.load(5), "5"), (.refusal(1), ""),
                (.refusal(1), ""), (.load(6), ""), (.load(7), ""), (.load(8), ""), (.load(9), ""), (.load(10), ""),
                (.load(11), ""), (.load(12), ""), (.pass(1), ""), (.refusal(9), ""), (.refusal(9), ""), (.answer, "6"),
                (.answer, "7 8"), (.answer, "9 10"), (.answer, "11 12"),
            ]
        ),
        Row(
            "does not pause where the server does not say for how long",
            1,
            [
                (.load(1), "1"), (.reply(429, retryAfter: nil), ""), (.load(2), "2"), (.refusal(0), ""),
                (.load(3), "3"), (.reply(500, retryAfter: 60), ""), (.load(4), "4"), (.reply(503, retryAfter: 5), ""),
                (.load(5), "5"), (.reply(503, retryAfter: 5), ""), (.load(6), ""), (.pass(5), "6"),
            ]
        ),
        Row(
            "tells at once those who would wait for longer than the patience, and the others when it is over",
            1,
            [
                (.load(1), "1"), (.load(2), ""), (.person(3), ""), (.refusal(100), "3"),
                (.refusal(100), "2: 429 for 30"),
                (.pass(10), ""), (.load(4), ""), (.pass(20), "4"), (.refusal(100), ""), (.load(5), "5"),
                (.refusal(100), ""), (.load(6), "6: 429 for 60"), (.pass(31), ""), (.load(7), ""), (.pass(29), "7"),
            ]
        ),
        Row(
            "tells those in line when nobody was answered for as long as the patience, and not before",
            2,
            [
                (.load(1), "1"), (.load(2), "2"), (.load(3), ""), (.load(4), ""), (.pass(29), ""), (.answer, "3"),
                (.load(5), ""), (.pass(29), ""), (.load(6), ""), (.pass(1), "4: unreachable 5: unreachable"),
                (.pass(28), ""), (.pass(1), "6: unreachable"), (.pass(3600), ""),
            ]
        ),
    ]

    @Test(arguments: rows)
    func `lets in by this table`(row: Row) {
        var clockwork = Clockwork(line: ExchangeLine(limit: row.limit, patience: 30))
        for (index, (event, expected)) in row.events.enumerated() {
            let steps = clockwork.steps(after: event).map(Self.text).joined(separator: " ")
            #expect(steps == expected, "event \(index): \(event)")
            #expect((0...row.limit).contains(clockwork.line.inFlight))
        }
    }

    /// Two accounts may have been meant.
    @Test func `pauses for as long as the patience, then for twice as long each time, for five minutes at most`() {
        var clockwork = Clockwork(line: ExchangeLine(limit: 1, patience: 30))
        for pause in [30, 60, 120, 240, 300, 300] {
            for number in 1...2 {
                #expect(clockwork.steps(after: .load(number)).map(Self.text) == ["\(number)"])
                _ = clockwork.steps(after: .refusal(86_400))
            }
            #expect(clockwork.steps(after: .load(3)).map(Self.text) == ["3: 429 for \(pause)"])
            _ = clockwork.steps(after: .pass(TimeInterval(pause)))
        }
        _ = clockwork.steps(after: .load(4))
        _ = clockwork.steps(after: .answer)
        for number in 5...6 {
            _ = clockwork.steps(after: .load(number))
            _ = clockwork.steps(after: .refusal(86_400))
        }
        #expect(clockwork.steps(after: .load(7)).map(Self.text) == ["7: 429 for 30"])
    }

    /// After refusals of 8, half of them is reached with four answers; each more takes fifty.
    @Test func `comes back to its limit slowly`() {
        var clockwork = Clockwork(line: ExchangeLine(limit: 8, patience: 30))
        for number in 1...8 { _ = clockwork.steps(after: .load(number)) }
        for _ in 1...8 { _ = clockwork.steps(after: .refusal(1)) }
        var answers: [Int] = []
        _ = clockwork.steps(after: .pass(1))
        for number in 9...600 { _ = clockwork.steps(after: .load(number)) }
        for answer in 1...300 {
            let before = clockwork.line.inFlight
            _ = clockwork.steps(after: .answer)
            if clockwork.line.inFlight > before { answers.append(answer) }
        }
        #expect(answers == [1, 2, 3, 53, 103, 153, 203])
    }

    /// Sixty accounts, and a server that takes twenty requests in a second.
    ///
    /// - Parameter number: Which of so many in flight hears from the server next.
    /// - Returns: How many requests the server has had when all sixty are answered; no end of them if one never is.
    private static func requests(of clockwork: Clockwork, hearing number: (Int) -> Int) -> Int {
        var clockwork = clockwork
        var (requests, inWindow) = (0, 0)
        var inFlight: [(number: Int, isTaken: Bool)] = []
        var refused: [Int] = []
        func send(_ steps: [ExchangeLine.Step]) {
            for case .send(let number) in steps {
                (requests, inWindow) = (requests + 1, inWindow + 1)
                inFlight.append((number, inWindow <= 20))
            }
        }
        for number in 1...60 { send(clockwork.steps(after: .load(number))) }
        while !inFlight.isEmpty {
            while !inFlight.isEmpty {
                clockwork.next = number(inFlight.count)
                let exchange = inFlight.remove(at: clockwork.next)
                if !exchange.isTaken { refused.append(exchange.number) }
                send(clockwork.steps(after: exchange.isTaken ? .answer : .refusal(1)))
            }
            inWindow = 0
            send(clockwork.steps(after: .pass(1)))
            for number in refused { send(clockwork.steps(after: .load(number))) }
            refused = []
        }
        return clockwork.line.waiting == 0 ? requests : .max
    }

    /// All that are in flight are refused, and then half of those.
    ///
    /// An answer that arrives late, after a refusal, keeps that refusal from being one of two in a row. So there are at
    /// most as many refusals more as there were answers on their way, and one for which a pause has not begun yet.
    @Test func `asks a server with a limit little more often than there are accounts`() async {
        let (inOrder, inAnyOrder) = await onThreadOfItsOwn {
            let clockwork = Clockwork(line: ExchangeLine(limit: 8, patience: 30))
            var generator = SeededGenerator(seed: 1)
            let isLong = ProcessInfo.processInfo.environment["EVERY_SEQUENCE"] == "long"
            let inAnyOrder = (1...(isLong ? 10_000 : 100)).map { _ in
                Self.requests(of: clockwork) { Int.random(in: 0..<$0, using: &generator) }
            }
            return (Self.requests(of: clockwork) { _ in 0 }, inAnyOrder)
        }
        #expect(inOrder == 60 + 9 + 5)
        #expect(inAnyOrder.allSatisfy { $0 <= 60 + (8 + 8 + 1) + (4 + 4 + 1) })
    }

    /// No load makes grants for ever, and none sends one that a server has stopped taking if it can be helped.
    @Test(
        arguments: [
            (.renewal, 30, nil), (.renewal, 30.1, .returning), (.returning, 30.1, nil), (.returning, 3600, nil),
            (.other, 3600, nil), (.renewal, -5, nil),
        ] as [(ExchangeLine.Kind, TimeInterval, ExchangeLine.Kind?)]
    )
    func `has a grant made anew once, if it has grown old in line`(
        kind: ExchangeLine.Kind,
        age: TimeInterval,
        next: ExchangeLine.Kind?
    ) {
        #expect(kind.again(withGrantOf: age, deadline: 60) == next)
    }

    @Test func `keeps the order of 60,000 of whom two thirds leave the line`() async {
        let count = 60_000
        let (sent, waiting) = await onThreadOfItsOwn {
            var clockwork = Clockwork(line: ExchangeLine(limit: 50, patience: 30))
            for number in 0..<count { _ = clockwork.steps(after: .load(number)) }
            for number in 50..<count where !number.isMultiple(of: 3) { _ = clockwork.steps(after: .cancel(number)) }
            var sent: [Int] = []
            while clockwork.line.inFlight > 0 {
                for case .send(let number) in clockwork.steps(after: .answer) { sent.append(number) }
            }
            return (sent, clockwork.line.waiting)
        }
        #expect(sent == (50..<count).filter { $0.isMultiple(of: 3) })
        #expect(waiting == 0)
    }
}
