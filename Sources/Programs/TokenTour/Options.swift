import ConsoleSupport
import Foundation

/// What the arguments ask for.
struct Options: Sendable {
    static let roundLimits = 1...1000
    /// Each caller has a connection, and this process holds both ends of it.
    static let callerLimits = 1...400

    static let processLimits = 2...32
    static let requestLimits = 1...1000

    var rounds = 5
    var callers = 100
    var setUps: [any TourSetUp] = SetUp.allCases
    /// `nil` runs the set-ups of one process.
    var processes: Int?
    /// How many token requests the server takes in a round, before it answers the others 429; `nil` is no limit.
    var limit: Int?
    var isHelp = false

    // What tests replace.

    /// Seconds that a token request takes at least, as with a server that signs tokens and stores them.
    var latency = 0.02
    /// Where the processes have the folder of their credential.
    var temporary = FileManager.default.temporaryDirectory
    /// The tour itself, for its other processes.
    var program = Bundle.main.executableURL

    /// - Parameter arguments: those after the program's name.
    init(_ arguments: [String]) throws(UsageError) {
        var chosen: [SetUp] = []
        var rest = Arguments(arguments)
        while let option = try rest.next() {
            switch option {
            case "--rounds": rounds = try rest.number(in: Self.roundLimits)
            case "--callers": callers = try rest.number(in: Self.callerLimits)
            case "--set-up":
                guard let setUp = SetUp(rawValue: try rest.value()) else { throw Self.unknownSetUp }
                chosen.append(setUp)
            case "--processes": processes = try rest.number(in: Self.processLimits)
            case "--limit": limit = try rest.number(in: Self.requestLimits)
            case "--help", "-h": isHelp = true
            default: throw .unknown(option)
            }
        }
        if let processes {
            guard chosen.isEmpty else { throw Self.setUpOfOneProcess }
            guard callers >= processes else { throw .notInRange("--callers", processes...Self.callerLimits.upperBound) }
            setUps = ProcessSetUp.allCases
        }
        if !chosen.isEmpty { setUps = SetUp.allCases.filter(chosen.contains) }
    }

    static let unknownSetUp = UsageError(
        "--set-up takes one of \(SetUp.allCases.map(\.rawValue).joined(separator: ", "))"
    )

    static let setUpOfOneProcess = UsageError(
        "--set-up does not go with --processes, which has set-ups of its own"
    )

    static var help: String {
        """
        usage: token-tour [--rounds N] [--callers N] [--limit N] [--set-up NAME]...
               token-tour --processes N [--rounds N] [--callers N] [--limit N]

        Many callers meet an expired access token at the same moment. The authorization server is a
        real one, on the loopback address. It rotates refresh tokens. When a refresh token is used
        twice, the server revokes the whole session, as RFC 9700 recommends. Each caller gets a token
        and requests a resource; after a 401 the caller invalidates that token and tries once more.
        A lost session is followed by a new sign-in. A kept session goes on into the next round.

          --rounds N     rounds of each set-up, \(limits(roundLimits)) (default 5)
          --callers N    callers in each round, \(limits(callerLimits)) (default 100)
          --limit N      token requests that the server takes in each round, \(limits(requestLimits));
                         it answers the others 429 (default: no limit)
          --set-up NAME  only this set-up; can be repeated
          --processes N  callers in N processes that share one credential on disk,
                         \(limits(processLimits)); each process has one service
          --help         print this text

        set-ups:
        \(lines(SetUp.allCases))

        set-ups of --processes:
        \(lines(ProcessSetUp.allCases))

        First comes what the server saw in the last round of the first naive set-up and of the last
        other one. Equal events are one line. A1 is the first access token of a session, R1 its first
        refresh token. Then the table says what a round cost in the mean. A load is a request for a
        new token; a reuse is a load with a refresh token that was used before. With --limit, the
        column 429 has the loads that the server refused because of the limit.

        exit status:
          0   no set-up of this package lost a session or left a caller unserved
          1   one did
          64  the arguments make no sense
          69  the store of a set-up of this package failed, or its folder could not be made
          71  the system gave the server no socket
          74  standard output could not be written
        """
    }

    private static func lines(_ setUps: [any TourSetUp]) -> String {
        setUps.map { "  \($0.rawValue.padded(to: 16))\($0.summary)" }.joined(separator: "\n")
    }

    private static func limits(_ range: ClosedRange<Int>) -> String {
        "\(range.lowerBound) to \(range.upperBound)"
    }
}
