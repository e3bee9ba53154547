import ConsoleSupport
import InterleavingExplorer

/// What the arguments ask for.
@available(Executors, *)
struct Options: Sendable {
    enum Command: Sendable {
        case help
        case list
        /// Explore these exhibits, and draw what breaks.
        case show([Exhibit])
        case replay(Schedule, of: Version, in: Exhibit)
    }

    let command: Command
    let isMermaid: Bool

    /// - Parameter arguments: those after the program's name.
    init(_ arguments: [String]) throws(UsageError) {
        var names: [String] = []
        var schedule: Schedule?
        var alone: String?
        var isMermaid = false
        var rest = Arguments(arguments)
        while let argument = try rest.next() {
            switch argument {
            case "--help", "-h", "--list":
                alone = argument
            case "--mermaid":
                isMermaid = true
            case "--replay":
                let text = try rest.value()
                schedule = Schedule(parsing: text)
                guard schedule != nil else { throw .noSchedule(text) }
            default:
                guard !argument.hasPrefix("-") else { throw .unknown(argument) }
                guard names.count < 2 else { throw .tooMany(argument) }
                names.append(argument)
            }
        }
        self.isMermaid = isMermaid
        if let alone {
            guard arguments.count == 1 else { throw .standsAlone(alone) }
            command = alone == "--list" ? .list : .help
            return
        }
        command = try Self.command(names, schedule)
    }

    private static func command(_ names: [String], _ schedule: Schedule?) throws(UsageError) -> Command {
        guard let name = names.first else {
            guard schedule == nil else { throw .replayNeedsVersion }
            return .show(Gallery.exhibits)
        }
        guard let exhibit = Gallery.exhibits.first(where: { $0.name == name }) else {
            throw .unknownExhibit(name)
        }
        guard names.count == 2 else {
            guard schedule == nil else { throw .replayNeedsVersion }
            return .show([exhibit])
        }
        guard let version = exhibit.versions.first(where: { $0.name == names[1] }) else {
            throw .unknownVersion(names[1], of: exhibit)
        }
        if let schedule {
            return .replay(schedule, of: version, in: exhibit)
        }
        return .show([exhibit.with(only: version)])
    }

    static let help = """
        usage: race-gallery [NAME [VERSION]] [--mermaid]
               race-gallery NAME VERSION --replay SCHEDULE [--mermaid]
               race-gallery --list | --help

        Each exhibit is a small system with one scenario and several versions: the listings of five
        articles, the repairs that hold, and repairs that do not. Every version is run under every
        order in which its tasks can interleave. A version that breaks an invariant shows the order
        that breaks it, and the version that repairs it. A version that holds says how many orders
        there are. Sources/Documentation.docc/Articles.md leads from each article to its versions.

          NAME                only this exhibit, with a diagram of every version that breaks
          VERSION             only this version of it
          --replay SCHEDULE   run one schedule, such as 0001, and show it step by step
          --mermaid           print a Markdown page, with the diagrams in Mermaid
          --list              print the names of all exhibits and versions
          --help              print this text

        A diagram has a lane for each operation of the scenario, and one for everything outside: the
        server, the disk, the clock, a cancellation. What a task does is shown at the operation that
        started it. The numbers are those of the steps: a line without a number belongs to the step
        above it, and steps in which there is nothing to see are left out. A * marks a step that ran
        before another step that had waited longer.

        A schedule has a digit for each moment at which more than one step could be next: 0 for the
        step that had waited longest. It holds for one build configuration, since the optimizer
        removes steps.

        exit status:
          0    every verdict is as expected
          1    one is not, or a schedule does not fit
          64   the arguments make no sense
          74   standard output could not be written
        """

    /// All names, for `--list`.
    static var list: String {
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
    static func tooMany(_ argument: String) -> UsageError {
        UsageError("too many arguments, from “\(argument)” on: one exhibit and one version at most")
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

    static let replayNeedsVersion = UsageError(
        "--replay needs the name of an exhibit and of a version, since a schedule belongs to one version"
    )

    static func standsAlone(_ option: String) -> UsageError {
        UsageError("\(option) stands alone: leave the other arguments out")
    }
}

@available(Executors, *)
extension Exhibit {
    fileprivate func with(only version: Version) -> Exhibit {
        Exhibit(
            name: name,
            title: title,
            story: story,
            invariants: invariants,
            versions: [version],
            file: file
        )
    }
}
