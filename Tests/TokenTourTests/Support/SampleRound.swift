@testable import token_tour

/// A round of three callers, short enough to be drawn in a test.
enum SampleRound {
    static let moments: [Moment] = [
        at(0, .request(from: .callbackCallers, to: .service, "token?")),
        at(1, .request(from: .asyncCallers, to: .service, "token?")),
        at(2, .request(from: .callbackCallers, to: .service, "token?")),
        at(3, .note(.service, "joins the load")),
        at(3, .request(from: .service, to: .server, "POST /token, R1")),
        at(4, .note(.server, "thinks")),
        at(25, .answer(from: .server, to: .service, "200 A2, R2")),
        at(26, .answer(from: .service, to: .asyncCallers, "A2")),
        at(26, .request(from: .asyncCallers, to: .server, "GET /resource, A2")),
    ]

    static func at(_ milliseconds: Int, _ step: Step) -> Moment {
        Moment(step: step, time: .milliseconds(milliseconds))
    }
}
