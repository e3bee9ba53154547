/// One thing that happened in a round, without the time: equal steps are drawn as one arrow.
enum Step: Hashable, Sendable {
    case request(from: Lane, to: Lane, String)
    case answer(from: Lane, to: Lane, String)
    case note(Lane, String)

    /// The lanes that it touches.
    var lanes: [Lane] {
        switch self {
        case .request(let from, let to, _), .answer(let from, let to, _): [from, to]
        case .note(let lane, _): [lane]
        }
    }
}
