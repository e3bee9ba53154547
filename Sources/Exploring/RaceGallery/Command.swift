import ConsoleSupport
import InterleavingExplorer

/// What the arguments ask for.
@available(Executors, *)
enum Command: Sendable {
    case help
    case list
    /// Explore these exhibits, and print an order of steps that breaks them.
    case show([Exhibit])
    case replay(Schedule, of: Version, in: Exhibit)
    /// Draw a schedule, or the first one that breaks the version.
    case draw(Schedule?, of: Version)

    /// - Parameter arguments: those after the program's name.
    init(_ arguments: [String]) throws(UsageError) {
        switch arguments {
        case ["--help"], ["-h"]: self = .help
        case ["--list"]: self = .list
        case []: self = .show(Gallery.exhibits)
        case _ where arguments[0] == "--diagram": self = try Self.drawn(Array(arguments.dropFirst()))
        default: self = try Self.named(arguments)
        }
    }

    private static func drawn(_ words: [String]) throws(UsageError) -> Command {
        guard words.count > 1 else { throw .noVersion }
        switch try named(words) {
        case .replay(let schedule, let version, _): return .draw(schedule, of: version)
        case .show(let exhibits) where words.count == 2: return .draw(nil, of: exhibits[0].versions[0])
        default: throw .noVersion
        }
    }

    private static func named(_ words: [String]) throws(UsageError) -> Command {
        if let option = words.first(where: { $0.hasPrefix("-") }) { throw .unknown(option) }
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
        return .replay(schedule, of: version, in: exhibit)
    }

    static let usage = """
        usage: race-gallery [NAME [VERSION [SCHEDULE]]]
               race-gallery --diagram NAME VERSION [SCHEDULE]
               race-gallery --list | --help

        Each exhibit is a small system with one scenario and several versions: the listings of five
        articles, the repairs that hold, and repairs that do not. Every version is run under every
        order of its steps that the explorer can choose. A version that breaks an invariant shows
        the order that breaks it, and the version that repairs it. A version that holds says how
        many orders there are, and whether the start of a “Task { }” was left out.
        Sources/Documentation.docc/Articles.md leads from each article to its versions.

          NAME        only this exhibit
          VERSION     only this version of it
          SCHEDULE    run one schedule, such as 0001, and show its steps
          --diagram   draw the schedule, or the first one that breaks the version, in the text form
                      of Mermaid, which GitHub draws
          --list      print the names of all exhibits and versions
          --help      print this text

        A step is what runs from one choice to the next: who runs, and what happens. A * marks a step
        that ran before another step that had waited longer. A schedule has a digit for each moment
        at which more than one step could be next: 0 for the step that had waited longest. It holds
        for one build configuration, since the optimizer removes steps.

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
    static let noVersion = UsageError("--diagram needs the names of an exhibit and of one of its versions")

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
