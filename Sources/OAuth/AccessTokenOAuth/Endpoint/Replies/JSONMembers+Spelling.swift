extension JSONMembers {
    /// The names under which members stand that have no member of the known name, or have nothing there:
    /// `refreshToken`, `Refresh-Token`.
    ///
    /// A refresh token that is not recognised is lost, and the spent one would be sent in its place.
    func spellings(of known: Set<String>) -> [String: String] {
        let missing = known.filter { hasNothing(at: $0) }
        var spellings: [String: String] = [:]
        // Sorted: of two spellings always the same one counts.
        for name in names.sorted() where name.utf8.count <= Self.longestSpelling {
            let spelling = Self.spelling(of: name)
            guard let known = missing.first(where: { Self.spelling(of: $0) == spelling }) else { continue }
            if spellings[known].map({ hasNothing(at: $0) }) ?? true { spellings[known] = name }
        }
        return spellings
    }

    /// Whether there is no such member, or what servers write for nothing.
    private func hasNothing(at name: String) -> Bool {
        !names.contains(name) || TokenReplyMembers.text(self[name]) == .none
    }

    /// With a separator at each place of a known name, no spelling of one is longer.
    private static let longestSpelling = 48

    /// In lower case and without separators.
    static func spelling(of name: String) -> String {
        name.lowercased().filter { $0 != "_" && $0 != "-" }
    }
}
