/// A name or a secret that is told from others by its bytes, as servers and databases do.
///
/// Two Swift strings are equal if they look alike: "é" can be one Unicode scalar or two. A user of the one name must
/// not get what belongs to the user of the other.
package struct ExactString: Hashable, Sendable {
    package let string: String

    package init(_ string: String) { self.string = string }

    package static func == (first: ExactString, second: ExactString) -> Bool {
        // Strings with the same bytes are equal, and that is found out fast.
        first.string == second.string && first.string.utf8.elementsEqual(second.string.utf8)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(string) }
}

extension Optional<String> {
    /// Whether both have the same bytes, or there is neither.
    package func isExactly(_ other: String?) -> Bool { map { ExactString($0) } == other.map { ExactString($0) } }
}

/// A key of any type; one that is a string is told from others by its bytes.
package struct ExactKey<Value: Hashable & Sendable>: Hashable, Sendable {
    package let value: Value

    package init(_ value: Value) { self.value = value }

    package static func == (first: ExactKey, second: ExactKey) -> Bool {
        guard first.value == second.value else { return false }
        guard Value.self == String.self else { return true }
        guard let string = first.value as? String, let other = second.value as? String else { return true }
        return ExactString(string) == ExactString(other)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}
