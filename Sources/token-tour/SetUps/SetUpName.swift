/// The set-ups of the tour, in the order in which they run.
enum SetUpName: String, CaseIterable, Sendable {
    case naiveCallback = "naive-callback"
    case naiveActor = "naive-actor"
    case queue
    case actor
    case both

    /// Whether it is a service of this package, which must not lose a session.
    var isOurs: Bool {
        switch self {
        case .naiveCallback, .naiveActor: false
        case .queue, .actor, .both: true
        }
    }

    /// A line for the help text.
    var summary: String {
        switch self {
        case .naiveCallback: "a queue guards the memory, nothing guards the load; callbacks"
        case .naiveActor: "an actor that awaits the load with nothing to join; tasks"
        case .queue: "AccessTokenService; callbacks"
        case .actor: "AsyncAccessTokenService; tasks"
        case .both: "one AsyncAccessTokenService; half callbacks through an adapter, half tasks"
        }
    }
}
