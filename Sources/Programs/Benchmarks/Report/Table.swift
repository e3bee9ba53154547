import ConsoleSupport
import Foundation

/// The outcome of a comparison for a terminal.
struct Table {
    let outcome: Outcome

    var text: String {
        let count = outcome.count.map { ", N = \(Self.grouped($0))" } ?? ""
        let hasBytes = outcome.figures.contains { $0.bytes != nil }
        let table = TextTable(
            header: ["\(outcome.row)  \(outcome.title)\(count)", "time", "ratio"] + (hasBytes ? ["heap"] : []),
            rows: outcome.figures.map { figure in
                let bytes = figure.bytes.map { String(format: "%.0f bytes", $0.median) } ?? ""
                let time = Self.time(figure.nanoseconds.median)
                return [figure.name, time, Self.spread(figure.ratio)] + (hasBytes ? [bytes] : [])
            }
        )
        let verdicts = outcome.verdicts.map { "\($0.isMet ? "met:   " : "MISSED:") \(Self.sentence($0))" }
        return ([table.text] + verdicts).joined(separator: "\n") + "\n"
    }

    static func sentence(_ verdict: Outcome.Verdict) -> String {
        let limit = String(format: "%g", verdict.limit)
        let value = spread(verdict.value)
        return switch verdict.quantity {
        case .time: "\(verdict.contender) ≤ \(limit) × \(verdict.base): \(value)"
        case .bytes: "memory of \(verdict.contender) ≤ \(limit) × \(verdict.base): \(value)"
        case .speed: "\(verdict.contender) ≥ \(limit) × faster than \(verdict.base): \(value)"
        case .rate: "\(verdict.contender) ≥ \(limit) a second: \(value)"
        }
    }

    private static func spread(_ values: Distribution) -> String {
        let format = values.median < 100 ? "%.2f (%.2f to %.2f)" : "%.0f (%.0f to %.0f)"
        return String(format: format, values.median, values.lowerQuartile, values.upperQuartile)
    }

    private static func time(_ nanoseconds: Double) -> String {
        nanoseconds < 10_000
            ? String(format: "%.1f ns", nanoseconds) : String(format: "%.1f µs", nanoseconds / 1_000)
    }

    static func grouped(_ number: Int) -> String {
        var digits = String(number)
        var groups: [String] = []
        while digits.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        return ([digits] + groups).joined(separator: ",")
    }
}
