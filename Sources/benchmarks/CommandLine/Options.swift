/// What the arguments ask for.
struct Options: Hashable, Sendable {
    var filter: String?
    var jsonFile: String?
    var svgFile: String?
    var workload: Workload?
    var count = 1_000
    var isQuick = false
    var isHelp = false

    /// - Parameter arguments: those after the program's name.
    init(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--filter": filter = try Self.value(of: argument, &rest)
            case "--json": jsonFile = try Self.value(of: argument, &rest)
            case "--svg": svgFile = try Self.value(of: argument, &rest)
            case "--workload":
                let name = try Self.value(of: argument, &rest)
                guard let workload = Workload(rawValue: name) else {
                    throw UsageError(description: "there is no workload \(name)")
                }
                self.workload = workload
            case "--count":
                let text = try Self.value(of: argument, &rest)
                guard let count = Int(text), (1...1_000_000).contains(count) else {
                    throw UsageError(description: "--count takes a number from 1 to 1,000,000")
                }
                self.count = count
            case "--quick": isQuick = true
            case "--help", "-h": isHelp = true
            default: throw UsageError(description: "there is no option \(argument)")
            }
        }
    }

    private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(UsageError) -> String {
        guard let value = rest.popFirst(), !value.hasPrefix("--") else {
            throw UsageError(description: "\(option) needs a value")
        }
        return value
    }

    static let help = """
        usage: benchmarks [--quick] [--filter TEXT] [--json FILE] [--svg FILE]
               benchmarks --workload NAME [--count N]

        Measures every claim about this package's speed beside what it is compared with, in turns, so that what
        else the machine does hits all of them alike. Behind × stands the median of the ratios to the first line of
        each group, round by round, and in brackets the quartiles. The ratios are what counts: the times depend on
        the machine and on what else it does.

          --quick        fewer rounds, and at most 10,000 waiters
          --filter TEXT  only rows whose letter is TEXT or whose title contains it
          --json FILE    write all figures to a file
          --svg FILE     draw what a waiter costs by the number of waiters
          --workload NAME, --count N
                         only do one thing N times, for a tool that counts instructions:
                         \(Workload.allCases.map(\.rawValue).joined(separator: ", "))
          --help         print this text

        exit status: 0, also when a target is missed; 1 if nothing could be measured or written; 64 for bad usage
        """
}
