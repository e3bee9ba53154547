extension Duration {
    /// Whole milliseconds, rounded.
    var milliseconds: Int {
        Int((self / .milliseconds(1)).rounded())
    }
}
