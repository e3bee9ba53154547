import InterleavingExplorer

/// One way to write the system of an exhibit.
struct Version: Sendable {
    enum Origin: String, Sendable {
        case faulty
        case fix
        /// It has been published or is commonly given as a fix, and is none.
        case wrongFix = "wrong fix"
    }

    /// The name on the command line.
    let name: String
    let origin: Origin
    /// What it does, in a few words.
    let summary: String
    /// The invariant, or the kind of failure, that it is expected to break; `nil` if it is expected to hold.
    let breaks: String?
    let scenario: Scenario

    static func faulty(_ name: String, breaks: String, _ summary: String, _ scenario: Scenario) -> Version {
        Version(name: name, origin: .faulty, summary: summary, breaks: breaks, scenario: scenario)
    }

    static func wrongFix(_ name: String, breaks: String, _ summary: String, _ scenario: Scenario) -> Version {
        Version(name: name, origin: .wrongFix, summary: summary, breaks: breaks, scenario: scenario)
    }

    static func fix(_ name: String, _ summary: String, _ scenario: Scenario) -> Version {
        Version(name: name, origin: .fix, summary: summary, breaks: nil, scenario: scenario)
    }
}
