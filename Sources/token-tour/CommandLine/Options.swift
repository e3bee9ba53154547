/// What the arguments ask for.
struct Options: Sendable {
    static let roundLimits = 1...1000
    /// Each caller has a connection, and the client's and the server's end of it are both in this process.
    static let callerLimits = 1...400

    private static let names: Set<String> = ["--rounds", "--callers", "--set-up"]

    var rounds = 5
    var callers = 100
    var setUps = SetUpName.allCases
    var isMermaid = false
    var isHelp = false
    /// The server of the user's own; `nil` for the built-in one.
    var server: ServerOptions?

    /// - Parameters:
    ///   - arguments: those after the program's name.
    ///   - environment: where a client secret comes from, which on the command line everybody could see.
    init(_ arguments: [String], environment: [String: String] = [:]) throws(UsageError) {
        var chosen: [SetUpName] = []
        var given: [ServerOptions.Name: [String]] = [:]
        var printsRefreshToken = false
        var rest = Arguments(arguments)
        let names = Self.names.union(ServerOptions.Name.allCases.map(\.rawValue))
        while let option = try rest.nextOption(amongThoseWithValues: names) {
            switch option {
            case "--rounds": rounds = try Self.number(option, rest.value(of: option), in: Self.roundLimits)
            case "--callers": callers = try Self.number(option, rest.value(of: option), in: Self.callerLimits)
            case "--set-up": chosen.append(try Self.setUp(rest.value(of: option)))
            case "--mermaid": isMermaid = true
            case "--print-refresh-token": printsRefreshToken = true
            case "--help", "-h": isHelp = true
            case "--client-secret": throw .secretArgument
            default:
                guard let name = ServerOptions.Name(rawValue: option) else { throw .unknown(option) }
                given[name, default: []].append(try rest.value(of: option))
            }
        }
        if isHelp { return }
        guard given[.server] != nil else {
            if let name = ServerOptions.Name.allCases.first(where: { given[$0] != nil }) {
                throw .needsServer(name.rawValue)
            }
            guard !printsRefreshToken else { throw .needsServer("--print-refresh-token") }
            if !chosen.isEmpty { setUps = SetUpName.allCases.filter(chosen.contains) }
            return
        }
        let server = try ServerOptions(
            given,
            chosen: chosen,
            printsRefreshToken: printsRefreshToken,
            secret: environment["CLIENT_SECRET"] ?? ""
        )
        self.server = server
        setUps = server.setUps
    }

    private static func number(
        _ option: String,
        _ text: String,
        in limits: ClosedRange<Int>
    ) throws(UsageError) -> Int {
        guard let number = Int(text), limits.contains(number) else { throw .badNumber(option, limits) }
        return number
    }

    private static func setUp(_ text: String) throws(UsageError) -> SetUpName {
        guard let name = SetUpName(rawValue: text) else { throw .unknownSetUp }
        return name
    }
}
