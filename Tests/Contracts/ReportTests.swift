import AccessTokenContract
import BuggyServices
import Foundation
import TestSupport
import Testing

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite("A report")
struct ReportTests {
    /// Silent at its loads' failures, and with a name that XML would misread.
    ///
    /// Its loads are not told what they replace, which is advice.
    private let subject = ContractSubject(
        "a <\"small\"> & rough\u{7} one",
        features: [.signOut, .invalidation]
    ) { fixture in
        ContractService.retrieving { handler in
            fixture.loader.load(replacing: nil) { result in
                if case .success = result { handler(result) }
            }
        } invalidate: { _ in
        } signOut: {
        }
    }

    @Test func `as JUnit XML has a case for each clause, as the report has`() async throws {
        let report = await subject.report(timeLimit: 0.1)
        #expect(!report.violations.isEmpty && !report.notJudged.isEmpty && !report.advice.isEmpty, "\(report)")
        #expect(report.notJudgedIDs == report.notJudged.map(\.id))
        let reader = JUnitReader()
        let parser = XMLParser(data: Data(report.junitXML.utf8))
        parser.delegate = reader
        #expect(parser.parse(), "\(report.junitXML)")
        let suite = try #require(reader.elements["testsuite"]?.first)
        #expect(suite["name"] == "The contract on a <\"small\"> & rough? one")
        #expect(suite["tests"] == "\(report.rows.count)")
        #expect(reader.elements["testcase"]?.compactMap { $0["name"] } == report.rows.map { "\($0.clause)" })
        #expect(
            reader.elements["failure"]?.compactMap { $0["message"] }
                == report.violations.map { "\($0.expected); observed: \($0.observed)" }
        )
        #expect(suite["failures"] == "\(report.violations.count)")
        #expect(reader.elements["error"]?.count == report.notJudged.count)
        #expect(suite["errors"] == "\(report.notJudged.count)")
        let skipped = report.rows.count { if case .skipped = $0.outcome { true } else { false } }
        #expect(reader.elements["skipped"]?.count == skipped)
        #expect(suite["skipped"] == "\(skipped)")
        #expect(reader.elements["system-out", default: []].count == report.advice.count)
        // Each broken clause is told in full, with the situation.
        let situation = try #require(report.violations.lazy.compactMap(\.situation).first, "\(report)")
        #expect(reader.text.contains("  situation: \(situation)\n"))
        for violation in report.violations { #expect(reader.text.contains("\(violation)")) }
    }

    @Test func `names the mistake that breaks several clauses before the clauses`() async throws {
        let report = await PlantedBugTests.actorSubject(bug: .nobodyClears)
            .report(on: "L1", "F2", "I1", "I6", "X1", "O4", "O5", "R1", timeLimit: 0.2)
        #expect(
            report.commonCauses.map(\.description) == [
                "a load that has ended is not forgotten: F2, I1, I6",
                "a caller cannot leave the load that it waits for: O4, X1; not judged: O5",
            ],
            "\(report)"
        )
        let text = "\(report)"
        let causes = try #require(text.range(of: "Common causes, which are mended first:\n- a load"), "\(text)")
        let clause = try #require(text.range(of: "F2, critical"))
        #expect(causes.upperBound < clause.lowerBound, "\(text)")
    }

    @Test func `names one cause of each clause`() async {
        let report = await PlantedBugTests.actorSubject(bug: .signOutTrustsInCancellation)
            .report(on: "L1", "O1", "O4", "X1", timeLimit: 0.2)
        #expect(report.brokenIDs == ["O1", "O4", "X1"], "\(report)")
        #expect(report.commonCauses.map(\.brokenIDs) == [["O1", "O4"]], "\(report)")
    }

    @Test func `names the load that leaves with a caller, and the answer that comes after the end`() async {
        let leaves = await PlantedBugTests.actorSubject(bug: .anyoneCancelsTheLoad, .asyncCallers)
            .report(on: "L1", "X2", "X4", timeLimit: 0.2)
        #expect(leaves.commonCauses.map(\.brokenIDs) == [["X2", "X4"]], "\(leaves)")
        let again = await PlantedBugTests.smallSubject(bug: .takesEveryAnswer).report(on: "L1", "T2", "D7")
        #expect(again.commonCauses.map(\.brokenIDs) == [["T2", "D7"]], "\(again)")
    }

    @Test func `names no cause of one clause, or of clauses that have none in common`() async {
        let alone = await PlantedBugTests.smallSubject(bug: .failuresStick).report(on: "L1", "F1", "F2")
        #expect(alone.brokenIDs == ["F2"] && alone.commonCauses.isEmpty, "\(alone)")
        #expect(!"\(alone)".contains("Common causes"))
        let strangers = await PlantedBugTests.smallSubject(bug: .loadsAgainAfterFailure).report(on: "L1", "F5", "T2")
        #expect(strangers.brokenIDs == ["F5", "T2"] && strangers.commonCauses.isEmpty, "\(strangers)")
    }
}

/// The elements of a document by their names, with their attributes, and the text between them.
private final class JUnitReader: NSObject, XMLParserDelegate {
    var elements: [String: [[String: String]]] = [:]
    var text = ""

    func parser(_ parser: XMLParser, foundCharacters characters: String) {
        text += characters
    }

    func parser(
        _ parser: XMLParser,
        didStartElement name: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
    ) {
        elements[name, default: []].append(attributes)
    }
}
