/// What the arguments ask for.
struct Options: Hashable, Sendable {
    static let roundLimits = 1...1000
    /// Each caller has a connection, and the client's and the server's end of it are both in this process.
    static let callerLimits = 1...400

    var rounds = 5
    var callers = 100
    var setUps = SetUpName.allCases
    var isMermaid = false
    var isHelp = false

    /// - Parameter arguments: those after the program's name.
    init(_ arguments: [String]) throws(UsageError) {
        var chosen: [SetUpName] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            // Both `--rounds 5` and `--rounds=5`.
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let option = parts.first.map(String.init) ?? ""
            if parts.count == 2 && ["--rounds", "--callers", "--set-up"].contains(option) {
                rest.insert(String(parts[1]), at: rest.startIndex)
            } else if parts.count == 2 {
                throw .unknown(argument)
            }
            switch option {
            case "--rounds": rounds = try Self.number(option, rest.popFirst(), in: Self.roundLimits)
            case "--callers": callers = try Self.number(option, rest.popFirst(), in: Self.callerLimits)
            case "--set-up": chosen.append(try Self.setUp(rest.popFirst()))
            case "--mermaid": isMermaid = true
            case "--help", "-h": isHelp = true
            default: throw .unknown(argument)
            }
        }
        if !chosen.isEmpty {
            setUps = SetUpName.allCases.filter(chosen.contains)
        }
    }

    private static func number(
        _ option: String,
        _ text: String?,
        in limits: ClosedRange<Int>
    ) throws(UsageError) -> Int {
        guard let text else { throw .missingValue(option) }
        guard let number = Int(text), limits.contains(number) else {
            throw .badNumber(option, text, limits)
        }
        return number
    }

    private static func setUp(_ text: String?) throws(UsageError) -> SetUpName {
        guard let text else { throw .missingValue("--set-up") }
        guard let name = SetUpName(rawValue: text) else { throw .unknownSetUp(text) }
        return name
    }
}
