/// What one of the two services is there for.
enum ShadowRole: CaseIterable, Sendable {
    case serving
    case shadow

    var other: ShadowRole { self == .serving ? .shadow : .serving }
}

/// The same thing, known of each of the two.
struct PerRole<Value> {
    var serving: Value
    var shadow: Value

    init(_ value: Value) {
        serving = value
        shadow = value
    }

    subscript(role: ShadowRole) -> Value {
        get { role == .serving ? serving : shadow }
        set {
            switch role {
            case .serving: serving = newValue
            case .shadow: shadow = newValue
            }
        }
    }
}

extension PerRole: Sendable where Value: Sendable {}
