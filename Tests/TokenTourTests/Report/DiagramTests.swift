import Testing

@testable import token_tour

@Suite("A round is drawn as it happened")
struct DiagramTests {
    private let diagram = SequenceDiagram(SampleRound.moments)

    @Test("Equal steps are one row: how many, from when to when, where the first of them happened")
    func rows() throws {
        let first = try #require(diagram.rows.first)
        #expect(first.label == "token? ×2")
        #expect(first.time == "0–2 ms")
        #expect(
            diagram.rows.map(\.label) == [
                "token? ×2", "token?", "joins the load", "POST /token, R1", "thinks", "200 A2, R2", "A2",
                "GET /resource, A2",
            ]
        )
        #expect(diagram.lanes == [.callbackCallers, .asyncCallers, .service, .server])
    }

    @Test("A world that takes no part has no lane")
    func lanes() {
        let moments = SampleRound.moments.filter { !$0.step.lanes.contains(.asyncCallers) }
        #expect(SequenceDiagram(moments).lanes == [.callbackCallers, .service, .server])
    }

    @Test("On a terminal: lanes as close together as the texts allow")
    func text() {
        let expected = """
                         callbacks  tasks      service              server
                             │        │           │                    │
                 0–2 ms      │── token? ×2 ──────▸│                    │
                   1 ms      │        │── token? ▸│                    │
                   3 ms      │        │           ● joins the load     │
                   3 ms      │        │           │── POST /token, R1 ▸│
                   4 ms      │        │           │            thinks  ●
                  25 ms      │        │           │◂╌ 200 A2, R2 ╌╌╌╌╌╌│
                  26 ms      │        │◂╌ A2 ╌╌╌╌╌│                    │
                  26 ms      │        │── GET /resource, A2 ──────────▸│
            """
        #expect(TextDiagram(diagram).text == expected)
    }

    @Test("A long text moves the lanes apart, and a very long one is cut")
    func longText() throws {
        let error = String(repeating: "x", count: 300)
        let moments = SampleRound.moments + [SampleRound.at(30, .answer(from: .server, to: .service, error))]
        let diagram = SequenceDiagram(moments)
        let lines = TextDiagram(diagram).text.split(separator: "\n").map(Array.init)
        let server = try #require(DiagramLayout(diagram).columns[.server])
        #expect(lines.dropFirst().allSatisfy { ["│", "●"].contains($0[server]) })
        #expect(String(try #require(lines.last)).contains(" \(String(error.prefix(39)))… ╌"))
    }

    @Test("The time of a slow round is whole, however long it is")
    func longTime() {
        let step = Step.request(from: .service, to: .server, "POST /token, R1")
        let diagram = SequenceDiagram([SampleRound.at(21_168, step), SampleRound.at(123_456, step)])
        #expect(TextDiagram(diagram).text.contains("\n21168–123456 ms "))
    }

    @Test("An error of several lines is one line", arguments: ["a\nb", "a\r\nb", "\na\n\nb\n"])
    func severalLines(_ text: String) {
        let diagram = SequenceDiagram([SampleRound.at(0, .answer(from: .server, to: .service, text))])
        #expect(diagram.rows.map(\.label) == ["a b"])
        #expect(TextDiagram(diagram).text.split(separator: "\n").count == 3)
    }

    @Test("A round in which nothing happened is an empty drawing")
    func nothing() {
        #expect(TextDiagram(SequenceDiagram([])).text == "\n")
        #expect(MermaidDiagram(diagram: SequenceDiagram([])).text == "sequenceDiagram")
    }

    @Test("In Mermaid: participants first, then a statement for each row")
    func mermaid() {
        let expected = """
            sequenceDiagram
                participant callbackCallers as callbacks
                participant asyncCallers as tasks
                participant service as service
                participant server as server
                callbackCallers->>service: token? ×2 (0–2 ms)
                asyncCallers->>service: token? (1 ms)
                Note over service: joins the load (3 ms)
                service->>server: POST /token, R1 (3 ms)
                Note over server: thinks (4 ms)
                server-->>service: 200 A2, R2 (25 ms)
                service-->>asyncCallers: A2 (26 ms)
                asyncCallers->>server: GET /resource, A2 (26 ms)
            """
        #expect(MermaidDiagram(diagram: diagram).text == expected)
    }

    @Test("No text can break out of its Mermaid statement", arguments: ["a;b", "a#b", "a\nb", "a\r\nb", "%%{a}%%"])
    func escaping(_ text: String) {
        let moments = [SampleRound.at(0, .note(.server, text))]
        let lines = MermaidDiagram(diagram: SequenceDiagram(moments)).text.split(whereSeparator: \.isNewline)
        #expect(lines.count == 3)
        let statement = ["#35;", "#37;", "#59;"].reduce(String(lines[2])) { statement, entity in
            statement.replacing(entity, with: "")
        }
        #expect(!statement.contains { ";#%".contains($0) })
    }
}
