import ConsoleSupport
import InterleavingExplorer
import TestSupport
import Testing

@testable import race_gallery

@Suite("A diagram", .eightAtATime)
struct GalleryDiagramTests {
    private var scenario: Scenario {
        Scenario("a diagram") { run in
            let first = run.operation("end", mayThrow: true) {
                note("asks; 100% of #1")
                try await run.clock.sleep(for: .seconds(1))
            }
            run.operation("other") {
                await Task { await run.pause("answer") }.value
                note("a note that is so long that it must be broken into a second line, if not a third or a fourth")
            }
            run.step(cancelling: first)
            run.invariant("breaks") { false }
        }
    }

    @Test("shows who says what and who wakes whom, on a lane for each operation and one for everything outside")
    func text() async {
        let trace = await Explorer().replay("0", of: scenario).trace
        #expect(
            SequenceDiagram(trace).text() == """
                   end                other                                    outside
                1   ● asks; 100% of #1  │                                         │
                2   │                   ● starts                                  │
                3   │◂╌ cancels end ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌│
                4   │                   ● task 1 starts                           │
                6   │                   │◂╌ answer ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌│
                7   │                   ● a note that is so long that it must be  │
                    │                   │ broken into a second line, if not a     │
                    │                   │ third or a fourth                       │
                """
        )
    }

    @Test("of every version that breaks is well-formed Mermaid", arguments: Entry.breaking)
    func mermaid(entry: Entry) async throws {
        let trace = try #require(await entry.finding()?.report.failure?.trace)
        let lines = SequenceDiagram(trace).mermaid.split(separator: "\n")
        #expect(lines.first == "sequenceDiagram")
        var declared: Set<Substring> = []
        for line in lines.dropFirst() {
            if let match = line.wholeMatch(of: #/    participant (p\d+) as [^#;%:]+/#) {
                #expect(declared.insert(match.1).inserted)
            } else if let match = line.wholeMatch(of: #/    Note over (p\d+): .*\S/#) {
                #expect(declared.contains(match.1), "\(line)")
            } else if let match = line.wholeMatch(of: #/    (p\d+)-->>(p\d+): .*\S/#) {
                #expect(declared.contains(match.1) && declared.contains(match.2), "\(line)")
            } else {
                Issue.record("not Mermaid: \(line)")
            }
        }
        #expect(lines.count > declared.count + 2, "something happens")
    }

    @Test("and the whole report of an exhibit fit into a hundred columns", arguments: Gallery.exhibits.map(\.name))
    func width(name: String) async throws {
        let entries = Entry.all.filter { $0.exhibit.name == name }
        let exhibit = try #require(entries.first?.exhibit)
        var findings: [Finding] = []
        for entry in entries {
            findings.append(try #require(await entry.finding()))
        }
        let report = ExhibitReport(exhibit: exhibit, findings: findings, drawsAll: true, isMermaid: false).text
        for line in report.split(separator: "\n") {
            #expect(line.count <= 100, "\(line)")
            #expect(line.last != " ", "\(line)")
            #expect(findings.contains { !$0.report.isComplete } || !line.contains("NOT AS EXPECTED"))
        }
        for finding in findings {
            #expect(report.contains(finding.verdict))
        }
        let page = ExhibitReport(exhibit: exhibit, findings: findings, drawsAll: true, isMermaid: true).text
        #expect(page.hasPrefix("## \(name): "))
        #expect(page.split(separator: "\n").count { $0.hasPrefix("```") }.isMultiple(of: 2))
    }
}
