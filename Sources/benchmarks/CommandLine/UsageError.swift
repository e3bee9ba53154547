/// Arguments that make no sense.
struct UsageError: Error, CustomStringConvertible {
    let description: String
}
