#if Postgres
import AccessTokenSynchronization
import Foundation

/// Finds out when a client has a statement carried out, by what the client sends.
///
/// The text of a statement goes over each connection once, under a name. From then on, the client sends the name.
final class StatementWatch: Sendable {
    private let part: Data
    private let names = Locked<[Data]>([])

    /// - Parameter part: of the text of one statement, and of no other one.
    init(_ part: String) { self.part = Data(part.utf8) }

    /// Whether what a client sends has the statement carried out.
    func sees(_ data: Data) -> Bool {
        guard let text = data.range(of: part) else {
            return names.withLock { names in names.contains { data.range(of: $0) != nil } }
        }
        // Before the text of a statement stands its name: a UUID, a space, a number and a zero.
        let before = data[..<text.lowerBound]
        guard let end = before.lastIndex(of: 0), let space = before[..<end].lastIndex(of: UInt8(ascii: " ")),
            let start = before.index(space, offsetBy: -36, limitedBy: before.startIndex)
        else { return false }
        names.withLock { $0.append(Data(before[start...end])) }
        return false
    }
}
#endif
