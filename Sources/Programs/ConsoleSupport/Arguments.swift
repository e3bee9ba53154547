/// The arguments of a command line, taken one after the other.
///
/// The value of an option follows it as the next argument or after an equals sign.
package struct Arguments {
    private var rest: ArraySlice<String>
    private var option = ""
    /// The value in `--option=value`, until it is taken.
    private var attached: String?

    /// - Parameter arguments: those after the program's name.
    package init(_ arguments: [String]) {
        rest = arguments[...]
    }

    /// The next option without its value, or the next word; `nil` at the end.
    ///
    /// - Throws: ``UsageError`` if the option before has an attached value that was not taken.
    package mutating func next() throws(UsageError) -> String? {
        guard attached == nil else { throw .takesNoValue(option) }
        guard let argument = rest.popFirst() else { return nil }
        option = argument
        if argument.hasPrefix("-"), let sign = argument.firstIndex(of: "=") {
            option = String(argument[..<sign])
            attached = String(argument[argument.index(after: sign)...])
        }
        return option
    }

    /// The value of the option that ``next()`` returned last.
    ///
    /// Another option is not a value unless it is attached.
    package mutating func value() throws(UsageError) -> String {
        if let attached, !attached.isEmpty {
            self.attached = nil
            return attached
        }
        guard attached == nil, let value = rest.first, !value.isEmpty, !value.hasPrefix("--") else {
            throw .missingValue(option)
        }
        rest = rest.dropFirst()
        return value
    }

    /// The value of that option as a number within limits.
    package mutating func number(in limits: ClosedRange<Int>) throws(UsageError) -> Int {
        let option = option
        guard let number = Int(try value()), limits.contains(number) else { throw .notInRange(option, limits) }
        return number
    }
}

/// Arguments that make no sense.
///
/// The description says which one, and what would make sense.
package struct UsageError: Error, Hashable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }

    /// An argument that is not a known option.
    package static func unknown(_ argument: String) -> UsageError {
        UsageError("unknown \(argument.hasPrefix("-") ? "option" : "argument"): \(argument)")
    }

    package static func missingValue(_ option: String) -> UsageError {
        UsageError("\(option) needs a value (if the value begins with --, write \(option)=VALUE)")
    }

    package static func takesNoValue(_ option: String) -> UsageError {
        UsageError("\(option) takes no value")
    }

    package static func notInRange(_ option: String, _ limits: ClosedRange<Int>) -> UsageError {
        UsageError("\(option) takes a number from \(limits.lowerBound) to \(limits.upperBound)")
    }
}
