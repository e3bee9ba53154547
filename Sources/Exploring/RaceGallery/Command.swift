import ConsoleSupport
import InterleavingExplorer

/// What the arguments ask for.
@available(Executors, *)
enum Command: Sendable {
    case help
    case list
    /// Explore these exhibits.
    case show([Exhibit])
    case replay(Schedule, of: Version)

    /// - Parameter arguments: those after the program's name.
    init(_ arguments: [String]) throws(UsageError) {
        switch arguments {
        case ["--help"], ["-h"]: self = .help
        case ["--list"]: self = .list
        case []: self = .show(Gallery.exhibits)
        default: self = try Self.named(arguments)
        }
    }

    private static func named(_ words: [String]) throws(UsageError) -> Command {
        if let option = words.first(where: { $0.hasPrefix("-") }) {
            throw ["--help", "-h", "--list"].contains(option) ? .standsAlone(option) : .unknown(option)
        }
        guard words.count <= 3 else { throw .unknown(words[3]) }
        guard var exhibit = Gallery.exhibits.first(where: { $0.name == words[0] }) else {
            throw .unknownExhibit(words[0])
        }
        guard words.count > 1 else { return .show([exhibit]) }
        guard let version = exhibit.versions.first(where: { $0.name == words[1] }) else {
            throw .unknownVersion(words[1], of: exhibit)
        }
        guard words.count > 2 else {
            exhibit.versions = [version]
            return .show([exhibit])
        }
        guard let schedule = Schedule(parsing: words[2]) else { throw .noSchedule(words[2]) }
        return .replay(schedule, of: version)
    }

    static let usage = """
        usage: race-gallery [NAME [VERSION [SCHEDULE]]]
               race-gallery --list | --help

        Each exhibit is a small system with one scenario and several versions: the listings of five
        articles, the repairs that hold, and repairs that do not. Every version is run under every
        order of its steps that the explorer can choose, and the explorer's report is printed.
        Sources/Documentation.docc/Articles.md leads from each article to its versions.

          NAME        only this exhibit
          VERSION     only this version of it
          SCHEDULE    run one schedule of a report, such as 0001, and show its steps
          --list      print the names of all exhibits and versions
          --help      print this text

        exit status:
          0    every verdict is as expected
          1    one is not, or a schedule does not fit
          64   the arguments make no sense
          74   standard output could not be written
        """

    /// All names, for `--list`.
    static var names: String {
        Gallery.exhibits
            .map { exhibit in
                let width = exhibit.versions.map(\.name.count).max() ?? 0
                let versions = exhibit.versions.map { version in
                    "  \(version.name.padded(to: width))  \(version.summary)"
                }
                return (["\(exhibit.name): \(exhibit.title)"] + versions).joined(separator: "\n")
            }
            .joined(separator: "\n\n")
    }
}

@available(Executors, *)
extension UsageError {
    static func standsAlone(_ option: String) -> UsageError {
        UsageError("\(option) takes no other arguments")
    }

    static func unknownExhibit(_ name: String) -> UsageError {
        UsageError("unknown exhibit “\(name)”; race-gallery --list shows all exhibits")
    }

    static func unknownVersion(_ name: String, of exhibit: Exhibit) -> UsageError {
        let known = exhibit.versions.map(\.name).joined(separator: ", ")
        return UsageError("\(exhibit.name) has no version “\(name)”; it has \(known)")
    }

    static func noSchedule(_ text: String) -> UsageError {
        UsageError("“\(text)” is no schedule: a schedule consists of digits and letters, such as 0001 or +0001")
    }
}
