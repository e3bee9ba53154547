import Foundation

/// The outcome of a comparison as lines for the terminal.
struct Table {
    let outcome: Outcome

    var text: String {
        let count = outcome.count.map { ", N = \(Self.grouped($0))" } ?? ""
        var lines = ["\(outcome.row)  \(outcome.title)\(count)"]
        for figure in outcome.figures {
            let bytes = figure.bytes.map { String(format: "%8.0f bytes", $0.median) } ?? ""
            lines.append(
                "     \(Self.padded(figure.name, 42)) \(Self.time(figure.nanoseconds.median))"
                    + "   × \(Self.spread(figure.ratio))\(bytes)"
            )
        }
        for verdict in outcome.verdicts {
            lines.append("     \(verdict.isMet ? "met   " : "MISSED") \(Self.sentence(verdict))")
        }
        return lines.joined(separator: "\n") + "\n"
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
            ? String(format: "%8.1f ns", nanoseconds) : String(format: "%8.1f µs", nanoseconds / 1_000)
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
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
