import InterleavingExplorer

/// What the arguments ask for.
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
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h", "--list":
                alone = argument
            case "--mermaid":
                isMermaid = true
            case "--replay":
                schedule = try Self.schedule(rest.popFirst())
            case _ where argument.hasPrefix("--replay="):
                schedule = try Self.schedule(String(argument.dropFirst("--replay=".count)))
            case _ where argument.hasPrefix("-"):
                throw .unknownOption(argument)
            default:
                guard names.count < 2 else { throw .tooMany(argument) }
                names.append(argument)
            }
        }
        self.isMermaid = isMermaid
        if let alone {
            guard arguments.count == 1 else { throw .nothingBesides(alone) }
            command = alone == "--list" ? .list : .help
            return
        }
        command = try Self.command(names, schedule)
    }

    private static func command(_ names: [String], _ schedule: Schedule?) throws(UsageError) -> Command {
        guard let name = names.first else {
            guard schedule == nil else { throw .replayOfNothing }
            return .show(Gallery.exhibits)
        }
        guard let exhibit = Gallery.exhibits.first(where: { $0.name == name }) else {
            throw .unknownExhibit(name)
        }
        guard names.count == 2 else {
            guard schedule == nil else { throw .replayOfNothing }
            return .show([exhibit])
        }
        guard let version = exhibit.versions.first(where: { $0.name == names[1] }) else {
            throw .unknownVersion(names[1], exhibit: name, known: exhibit.versions.map(\.name))
        }
        if let schedule {
            return .replay(schedule, of: version, in: exhibit)
        }
        return .show([exhibit.with(only: version)])
    }

    private static func schedule(_ text: String?) throws(UsageError) -> Schedule {
        guard let text, !text.isEmpty else { throw .missingSchedule }
        guard let schedule = Schedule(parsing: text) else { throw .badSchedule(text) }
        return schedule
    }
}

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
