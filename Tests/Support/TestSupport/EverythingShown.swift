/// All that a value shows of itself: description, debug description and dump.
package func everythingShown(by value: some Any) -> String {
    var text = "\(value)|" + String(reflecting: value) + "|"
    dump(value, to: &text)
    return text
}
