/// The arguments make no sense; the text says why, and what would.
enum UsageError: Error, Hashable, CustomStringConvertible {
    case unknownOption(String)
    case tooMany(String)
    case unknownExhibit(String)
    case unknownVersion(String, exhibit: String, known: [String])
    case missingSchedule
    case badSchedule(String)
    case replayOfNothing
    case nothingBesides(String)

    var description: String {
        switch self {
        case .unknownOption(let option):
            "unknown option: \(option)"
        case .tooMany(let argument):
            "too many arguments, from “\(argument)” on: one exhibit and one version at most"
        case .unknownExhibit(let name):
            "unknown exhibit “\(name)”; race-gallery --list shows which there are"
        case .unknownVersion(let name, let exhibit, let known):
            "\(exhibit) has no version “\(name)”; it has \(known.joined(separator: ", "))"
        case .missingSchedule:
            "--replay needs a schedule"
        case .badSchedule(let text):
            "“\(text)” is no schedule: it consists of digits and letters, such as 0001"
        case .replayOfNothing:
            "--replay needs the name of an exhibit and of a version, since a schedule belongs to one of them"
        case .nothingBesides(let option):
            "\(option) stands alone"
        }
    }
}
