import ConsoleSupport

/// What the arguments ask for.
struct Options: Sendable {
    var filter: String?
    var jsonFile: String?
    var svgFile: String?
    var workload: Workload?
    var count = 1_000
    /// For the benchmarks' own processes.
    var heldStore: String?
    var isQuick = false
    var isHelp = false

    /// - Parameter arguments: those after the program's name.
    init(_ arguments: [String]) throws(UsageError) {
        var rest = Arguments(arguments)
        while let option = try rest.next() {
            switch option {
            case "--filter": filter = try rest.value()
            case "--json": jsonFile = try rest.value()
            case "--svg": svgFile = try rest.value()
            case "--workload":
                let name = try rest.value()
                guard let workload = Workload(rawValue: name) else {
                    throw UsageError("unknown workload: \(name); the workloads are \(Workload.names)")
                }
                self.workload = workload
            case StoreHolder.option: heldStore = try rest.value()
            case "--count": count = try rest.number(in: 1...1_000_000)
            case "--quick": isQuick = true
            case "--help", "-h": isHelp = true
            default: throw .unknown(option)
            }
        }
    }

    static let help = """
        usage: benchmarks [--quick] [--filter TEXT] [--json FILE] [--svg FILE]
               benchmarks --workload NAME [--count N]

        Measures every claim about this package's speed next to what the claim compares with. The contenders of a row
        are sampled alternately, so that other work of the machine slows all of them alike. The ratio is the time over
        that of the first contender of the row: the median over all rounds, and the quartiles in brackets. Trust the
        ratios: the times depend on the machine and its load.

          --quick        fewer rounds, and at most 10,000 waiters
          --filter TEXT  only rows whose letter is TEXT or whose title contains TEXT
          --json FILE    write all figures to a file
          --svg FILE     draw the cost of a waiter by the number of waiters
          --workload NAME, --count N
                         only do one thing N times, for a tool that counts instructions:
                         \(Workload.names)
          --help         print this text

        The stores that last are measured in the folder for temporary files; with the package trait Postgres, also in the
        database whose connection string is in ACCESS_TOKEN_POSTGRES.

        exit status: 0, also when a target is missed; 1 if nothing could be measured or written; 64 for bad usage;
        74 if standard output could not be written
        """
}

extension Workload {
    static var names: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
