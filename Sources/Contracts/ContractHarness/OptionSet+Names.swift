extension OptionSet where RawValue == Int {
    /// The names of what is in the set, where `all` has the names of the bits from the lowest on.
    package func names(_ all: [String]) -> String {
        all.indices.filter { rawValue & 1 << $0 != 0 }.map { all[$0] }.joined(separator: ", ")
    }
}
