/// The error with which a controlled load fails; equal only to that of the same load.
public struct ContractLoadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The load that failed.
    public let number: Int

    /// Creates the error of a load.
    public init(number: Int) {
        self.number = number
    }

    /// Names the load.
    public var description: String { "of load \(number)" }
}
