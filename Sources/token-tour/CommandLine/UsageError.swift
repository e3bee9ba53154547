/// The arguments make no sense; the text says why, and what would.
enum UsageError: Error, Hashable, CustomStringConvertible {
    case unknown(String)
    case missingValue(String)
    case badNumber(String, String, ClosedRange<Int>)
    case unknownSetUp(String)

    var description: String {
        switch self {
        case .unknown(let argument):
            "unknown argument: \(argument)"
        case .missingValue(let option):
            "\(option) needs a value"
        case .badNumber(let option, let text, let limits):
            "\(option) takes a number from \(limits.lowerBound) to \(limits.upperBound), not “\(text)”"
        case .unknownSetUp(let text):
            "unknown set-up “\(text)”; there are \(SetUpName.allCases.map(\.rawValue).joined(separator: ", "))"
        }
    }
}
