#if Postgres
import AccessTokenCore
import Foundation

/// The number of a process, and of each of its entries into a row.
///
/// A row names an entry. The advisory lock has the number of the process alone: the twenty last bits are zero.
struct ProcessNumber: Hashable, Sendable {
    /// Leaves the number of the process of that of an entry, in SQL.
    static let mask = "-1048576"

    private static let entryBits: Int64 = 20

    let value: Int64

    init() { value = Int64.random(in: 1..<(1 << 43)) << Self.entryBits }

    /// As a statement's parameter, which is text.
    var parameter: Data { Data("\(value)".utf8) }

    /// Entries that follow each other for a million times have different numbers.
    func entry(_ count: Int) -> Data {
        Data("\(value | (Int64(count) & ((1 << Self.entryBits) - 1)))".utf8)
    }
}
#endif
