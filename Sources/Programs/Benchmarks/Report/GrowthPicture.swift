import Foundation

/// The cost of one waiter and of one account by their number, as a picture in SVG.
///
/// A flat line means linear growth in all.
struct GrowthPicture {
    private struct Curve {
        let name: String
        let color: String
        var points: [(count: Int, value: Double)]
    }

    private let panels: [(title: String, curves: [Curve])]
    private let width = 340.0
    private let height = 330.0

    /// Fails without comparisons of at least two numbers of waiters or accounts.
    init?(_ outcomes: [Outcome]) {
        panels = [
            ("microseconds per waiter", Self.curves(outcomes, Self.waiters) { $0.nanoseconds.median / 1_000 }),
            ("bytes per waiter", Self.curves(outcomes, Self.waiters) { $0.bytes?.median }),
            (
                "nanoseconds for a valid token, by accounts",
                Self.curves(outcomes, ["accounts"]) { $0.nanoseconds.median }
            ),
        ].filter { panel in panel.1.contains { $0.points.count > 1 } }
        guard !panels.isEmpty else { return nil }
    }

    private static let waiters = ["async waiter, one thread", "callback waiter"]

    private static func curves(
        _ outcomes: [Outcome],
        _ titles: [String],
        _ value: (Outcome.Figure) -> Double?
    ) -> [Curve] {
        let colors = [
            SharedTaskDesign.name: "#777777", ServiceDesign.name: "#d33682", DictionaryDesign.name: "#b58900",
            SundellDesign.name: "#2aa198", QueueServiceDesign.name: "#268bd2",
            HitRows.base: "#777777", AccountRow.one: "#d33682", AccountRow.each: "#b58900",
        ]
        var curves: [Curve] = []
        for outcome in outcomes where titles.contains(outcome.title) {
            for figure in outcome.figures {
                // A contender without a color is measured at few sizes only, and gets no curve.
                guard let count = outcome.count, let value = value(figure), let color = colors[figure.name] else {
                    continue
                }
                // The base stands in both rows; its first curve is enough.
                if outcome.title == "callback waiter" && figure.name == SharedTaskDesign.name { continue }
                let index =
                    curves.firstIndex { $0.name == figure.name }
                    ?? {
                        curves.append(Curve(name: figure.name, color: color, points: []))
                        return curves.count - 1
                    }()
                curves[index].points.append((count, value))
            }
        }
        return curves
    }

    var text: String {
        var lines = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(width) * panels.count) \(Int(height))" \
            font-family="sans-serif" font-size="11">
            """,
            "<title>What one waiter or account costs, by their number</title>",
            "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
        ]
        for (index, panel) in panels.enumerated() {
            lines.append("<g transform=\"translate(\(Int(width) * index) 0)\">")
            lines += draw(panel.title, panel.curves)
            lines.append("</g>")
        }
        lines.append("</svg>")
        return lines.joined(separator: "\n") + "\n"
    }

    private func draw(_ title: String, _ curves: [Curve]) -> [String] {
        let left = 50.0
        let right = width - 32
        let top = 30.0
        let bottom = height - 115
        let decades = curves.flatMap(\.points).map { log10(Double($0.count)) }
        let first = decades.min() ?? 0
        let last = max(decades.max() ?? 1, first + 1)
        let highest = max(curves.flatMap(\.points).map(\.value).max() ?? 1, 0.001) * 1.1
        func x(_ count: Int) -> Double { left + (log10(Double(count)) - first) / (last - first) * (right - left) }
        func y(_ value: Double) -> Double { bottom - value / highest * (bottom - top) }
        func number(_ value: Double) -> String { String(format: "%.1f", value) }

        var lines = ["<text x=\"\(number(left))\" y=\"18\" font-weight=\"bold\">\(title)</text>"]
        for step in 0...4 {
            let value = highest * Double(step) / 4
            let label = highest < 100 ? number(value) : String(format: "%.0f", value)
            lines.append(
                "<path d=\"M\(number(left)) \(number(y(value)))H\(number(right))\" stroke=\"#dddddd\"/>"
                    + "<text x=\"\(number(left - 5))\" y=\"\(number(y(value) + 4))\" text-anchor=\"end\">\(label)</text>"
            )
        }
        for count in Set(curves.flatMap(\.points).map(\.count)).sorted() {
            let label = "<text x=\"\(number(x(count)))\" y=\"\(number(bottom + 15))\" text-anchor=\"middle\">"
            lines.append("\(label)\(Table.grouped(count))</text>")
        }
        for (index, curve) in curves.enumerated() {
            let points = curve.points.map { "\(number(x($0.count))),\(number(y($0.value)))" }.joined(separator: " ")
            lines.append("<polyline points=\"\(points)\" fill=\"none\" stroke=\"\(curve.color)\" stroke-width=\"2\"/>")
            let legendX = left
            let legendY = bottom + 38 + Double(index) * 16
            lines.append(
                "<path d=\"M\(number(legendX)) \(number(legendY - 4))h18\" stroke=\"\(curve.color)\" stroke-width=\"2\"/>"
                    + "<text x=\"\(number(legendX + 24))\" y=\"\(number(legendY))\">\(curve.name)</text>"
            )
        }
        return lines
    }
}
