import ConsoleSupport
import Testing

@Suite("A sequence diagram")
struct DiagramTests {
    private let diagram = SequenceDiagram(
        lanes: ["tasks", "service", "end"],
        rows: [
            .init(mark: "1", .arrow(from: "tasks", to: "service", "token?")),
            .init(mark: "", .note(lane: "service", "joins the load")),
            .init(mark: "*12", .arrow(from: "service", to: "end", "POST; 100% of #1")),
            .init(mark: "13", .note(lane: "end", "thinks")),
            .init(mark: "14", .arrow(from: "end", to: "tasks", isDashed: true, "200")),
        ]
    )

    @Test("has its lanes as close together as the texts allow")
    func text() {
        #expect(
            diagram.text() == """
                     tasks      service                 end
                  1    │── token? ▸│                     │
                       │           ● joins the load      │
                *12    │           │── POST; 100% of #1 ▸│
                 13    │           │             thinks  ●
                 14    │◂╌ 200 ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌│
                """
        )
    }

    @Test("breaks long notes and cuts long labels where the width is not enough")
    func width() {
        let long = "a text that is much longer than there is room for"
        let diagram = SequenceDiagram(
            lanes: ["a", "b", "c"],
            rows: [
                .init(mark: "1", .note(lane: "a", long)),
                .init(mark: "2", .arrow(from: "b", to: "c", long)),
                .init(mark: "3", .note(lane: "c", String(repeating: "x", count: 300))),
            ]
        )
        #expect(
            diagram.text(width: 48) == """
                   a                    b                      c
                1  ● a text that is     │                      │
                   │ much longer than   │                      │
                   │ there is room for  │                      │
                2  │                    │── a text that is m… ▸│
                3  │                    │   xxxxxxxxxxxxxxxx…  ●
                """
        )
        for width in 30...98 {
            let lines = diagram.text(width: width).split(separator: "\n")
            #expect(lines.allSatisfy { $0.count <= width && $0.last != " " }, "\(width)")
        }
    }

    @Test("shows an error of several lines in one line", arguments: ["a\nb", "a\r\nb", "\na\n\nb\n"])
    func severalLines(_ text: String) {
        let diagram = SequenceDiagram(
            lanes: ["one", "other"],
            rows: [.init(mark: "", .arrow(from: "one", to: "other", text)), .init(mark: "", .note(lane: "one", text))]
        )
        #expect(diagram.text().split(whereSeparator: \.isNewline).count == 3)
        #expect(diagram.mermaid.split(whereSeparator: \.isNewline).suffix(2).allSatisfy { $0.hasSuffix(": a b") })
    }

    @Test("of one lane has its notes on the right, and a diagram of nothing is empty")
    func small() {
        let one = SequenceDiagram(lanes: ["one"], rows: [.init(mark: "1", .note(lane: "one", "starts"))])
        #expect(one.text() == "   one\n1   ● starts")
        let empty = SequenceDiagram(lanes: [], rows: [])
        #expect(empty.text() == "")
        #expect(empty.mermaid == "sequenceDiagram")
    }

    @Test("is valid Mermaid whatever its texts contain")
    func mermaid() {
        #expect(
            diagram.mermaid == """
                sequenceDiagram
                    participant p0 as tasks
                    participant p1 as service
                    participant p2 as end
                    p0->>p1: 1 token?
                    Note over p1: joins the load
                    p1->>p2: *12 POST#59; 100#37; of #35;1
                    Note over p2: 13 thinks
                    p2-->>p0: 14 200
                """
        )
    }
}
