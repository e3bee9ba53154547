/// The arguments of the command line, taken one after the other.
///
/// Errors name options and never their values, of which some are secrets.
struct Arguments {
    private var rest: ArraySlice<String>
    /// The value in `--option=value`.
    private var attached: String?
    private var position = 0

    init(_ arguments: [String]) { rest = arguments[...] }

    /// The next option's name, without a value that is attached to it; `nil` at the end.
    mutating func nextOption(amongThoseWithValues names: Set<String>) throws(UsageError) -> String? {
        guard let argument = rest.popFirst() else { return nil }
        position += 1
        guard argument.hasPrefix("-") else { throw .noOption(position: position) }
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        attached = parts.count == 2 ? String(parts[1]) : nil
        guard attached == nil || names.contains(name) else { throw .unknown(name) }
        return name
    }

    /// The value of this option; another option is none, unless it is attached.
    mutating func value(of option: String) throws(UsageError) -> String {
        if let attached, !attached.isEmpty { return attached }
        guard attached == nil, let next = rest.first, !next.isEmpty, !next.hasPrefix("--") else {
            throw .missingValue(option)
        }
        position += 1
        rest = rest.dropFirst()
        return next
    }
}
