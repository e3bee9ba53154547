import InterleavingExplorer

/// One system of the articles: a scenario, and the versions of the system that are put to it.
struct Exhibit: Sendable {
    /// The name on the command line.
    let name: String
    let title: String
    /// What happens, and why it is hard.
    let story: String
    /// What must hold under every schedule.
    let invariants: [String]
    let versions: [Version]
}
