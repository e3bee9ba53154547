/// Who takes part in a round; a column of the diagram, from left to right.
enum Lane: Int, CaseIterable, Hashable, Comparable, Sendable {
    case callbackCallers
    case asyncCallers
    case service
    case server

    var title: String {
        switch self {
        case .callbackCallers: "callbacks"
        case .asyncCallers: "tasks"
        case .service: "service"
        case .server: "server"
        }
    }

    static func < (one: Lane, other: Lane) -> Bool {
        one.rawValue < other.rawValue
    }
}
