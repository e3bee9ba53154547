/// A value that is seldom there, and takes room only then: a server may have this for each of its users.
@propertyWrapper
package struct Seldom<Value: Sendable>: Sendable {
    private indirect enum Box: Sendable {
        case value(Value)
    }

    private var box: Box?

    package var wrappedValue: Value? {
        get { if case .value(let value) = box { value } else { nil } }
        set { box = newValue.map { .value($0) } }
    }

    package init(wrappedValue: Value? = nil) { self.wrappedValue = wrappedValue }
}

extension Seldom: Equatable where Value: Equatable {
    package static func == (first: Seldom, second: Seldom) -> Bool { first.wrappedValue == second.wrappedValue }
}
