/// A place in an app's code that calls a callback service, and how often it did.
public struct CallSite: Hashable, Sendable {
    /// The function that makes the call, as a debugger would name it; an address if the program has no symbols.
    public let function: String

    /// The file, as the compiler was given it; `nil` if the program has no line tables, or the platform does not read them.
    public let file: String?

    /// The line of the call; `nil` where ``file`` is.
    public let line: Int?

    /// The calls so far.
    public let count: Int
}

extension CallSite: CustomStringConvertible {
    /// Count, place and function.
    public var description: String {
        guard let file, let line else { return "\(count)  \(function)" }
        let name = file.split(separator: "/").last ?? "?"
        return "\(count)  \(name):\(line)  \(function)"
    }
}
