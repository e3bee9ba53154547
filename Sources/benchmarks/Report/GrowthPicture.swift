import Foundation

/// What a waiter costs as their number grows, as a picture in SVG: flat is linear growth in all.
struct GrowthPicture {
    private struct Curve {
        let name: String
        let color: String
        var points: [(waiters: Int, value: Double)]
    }

    private let panels: [(title: String, curves: [Curve])]
    private let width = 460.0
    private let height = 300.0

    /// Nothing to see without comparisons of at least two numbers of waiters.
    init?(_ outcomes: [Outcome]) {
        let growing = outcomes.filter { ($0.waiters ?? 0) > 0 }
        guard Set(growing.compactMap(\.waiters)).count > 1 else { return nil }
        panels = [
            ("microseconds per waiter", Self.curves(growing) { $0.nanoseconds.median / 1_000 }),
            ("bytes per waiter", Self.curves(growing) { $0.bytes?.median }),
        ]
    }

    private static func curves(_ outcomes: [Outcome], _ value: (Outcome.Figure) -> Double?) -> [Curve] {
        let colors = [
            SharedTaskDesign.name: "#777777", ServiceDesign.name: "#d33682", DictionaryDesign.name: "#b58900",
            SundellDesign.name: "#2aa198", QueueServiceDesign.name: "#268bd2",
        ]
        var curves: [Curve] = []
        for outcome in outcomes where ["async waiter, one thread", "callback waiter"].contains(outcome.title) {
            for figure in outcome.figures {
                guard let waiters = outcome.waiters, let value = value(figure) else { continue }
                // The base stands in both rows; its first curve is enough.
                if outcome.title == "callback waiter" && figure.name == SharedTaskDesign.name { continue }
                let index =
                    curves.firstIndex { $0.name == figure.name }
                    ?? {
                        curves.append(Curve(name: figure.name, color: colors[figure.name] ?? "#000", points: []))
                        return curves.count - 1
                    }()
                curves[index].points.append((waiters, value))
            }
        }
        return curves
    }

    var text: String {
        var lines = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(width) * 2) \(Int(height))" \
            font-family="sans-serif" font-size="11">
            """,
            "<title>What one waiter costs, by the number of waiters</title>",
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
        let right = width - 15
        let top = 30.0
        let bottom = height - 85
        let decades = curves.flatMap(\.points).map { log10(Double($0.waiters)) }
        let first = decades.min() ?? 0
        let last = max(decades.max() ?? 1, first + 1)
        let highest = max(curves.flatMap(\.points).map(\.value).max() ?? 1, 0.001) * 1.1
        func x(_ waiters: Int) -> Double { left + (log10(Double(waiters)) - first) / (last - first) * (right - left) }
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
        for waiters in Set(curves.flatMap(\.points).map(\.waiters)).sorted() {
            let label = "<text x=\"\(number(x(waiters)))\" y=\"\(number(bottom + 15))\" text-anchor=\"middle\">"
            lines.append("\(label)\(waiters)</text>")
        }
        for (index, curve) in curves.enumerated() {
            let points = curve.points.map { "\(number(x($0.waiters))),\(number(y($0.value)))" }.joined(separator: " ")
            lines.append("<polyline points=\"\(points)\" fill=\"none\" stroke=\"\(curve.color)\" stroke-width=\"2\"/>")
            let legendX = left + Double(index % 2) * 190
            let legendY = bottom + 38 + Double(index / 2) * 16
            lines.append(
                "<path d=\"M\(number(legendX)) \(number(legendY - 4))h18\" stroke=\"\(curve.color)\" stroke-width=\"2\"/>"
                    + "<text x=\"\(number(legendX + 24))\" y=\"\(number(legendY))\">\(curve.name)</text>"
            )
        }
        return lines
    }
}
