import ConsoleSupport
import TestSupport
import Testing

@testable import TokenTour

@Suite("The diagram of a round", .eightAtATime)
struct RoundDiagramTests {
    private let moments: [RoundRecorder.Moment] = [
        at(0, .request(from: .callbackCallers, to: .service, "token?")),
        at(1, .request(from: .asyncCallers, to: .service, "token?")),
        at(2, .request(from: .callbackCallers, to: .service, "token?")),
        at(3, .note(.service, "joins the load")),
        at(3, .request(from: .service, to: .server, "POST /token, R1")),
        at(25, .answer(from: .server, to: .service, "200 A2, R2")),
        at(21_168, .answer(from: .service, to: .asyncCallers, "A2")),
        at(123_456, .answer(from: .service, to: .asyncCallers, "A2")),
    ]

    private static func at(_ milliseconds: Int, _ step: SequenceDiagram.Content) -> RoundRecorder.Moment {
        RoundRecorder.Moment(step: step, time: .milliseconds(milliseconds))
    }

    @Test("shows equal steps as one row, where the first of them happened, with their number and times")
    func rows() {
        #expect(
            SequenceDiagram(moments).text() == """
                                 callbacks  tasks      service              server
                         0–2 ms      │── token? ×2 ──────▸│                    │
                           1 ms      │        │── token? ▸│                    │
                           3 ms      │        │           ● joins the load     │
                           3 ms      │        │           │── POST /token, R1 ▸│
                          25 ms      │        │           │◂╌ 200 A2, R2 ╌╌╌╌╌╌│
                21168–123456 ms      │        │◂╌ A2 ×2 ╌╌│                    │
                """
        )
    }

    @Test("leaves out a lane without steps")
    func lanes() {
        #expect(SequenceDiagram(moments).lanes == ["callbacks", "tasks", "service", "server"])
        let others = moments.filter { !$0.step.lanes.contains(Lane.asyncCallers.rawValue) }
        #expect(SequenceDiagram(others).lanes == ["callbacks", "service", "server"])
        #expect(SequenceDiagram([RoundRecorder.Moment]()).rows.isEmpty)
    }
}
