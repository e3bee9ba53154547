import AccessTokenContract
import Foundation
import TestSupport
import Testing

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite("A report")
struct ReportTests {
    /// Silent at its loads' failures, and with a name that XML would misread.
    private let subject = ContractSubject("a <\"small\"> & rough\u{7} one", features: .signOut) { fixture in
        ContractService.retrieving { handler in
            fixture.loader.load(replacing: nil) { result in
                if case .success = result { handler(result) }
            }
        } signOut: {
        }
    }

    @Test func `as JUnit XML has a case for each clause, as the report has`() async throws {
        let report = await subject.report(timeLimit: 0.1)
        #expect(!report.violations.isEmpty && !report.notJudged.isEmpty, "\(report)")
        #expect(report.notJudgedIDs == report.notJudged.map(\.id))
        let reader = JUnitReader()
        let parser = XMLParser(data: Data(report.junitXML.utf8))
        parser.delegate = reader
        #expect(parser.parse(), "\(report.junitXML)")
        let suite = try #require(reader.elements["testsuite"]?.first)
        #expect(suite["name"] == "The contract on a <\"small\"> & rough? one")
        #expect(suite["tests"] == "\(report.rows.count)")
        #expect(reader.elements["testcase"]?.compactMap { $0["name"] } == report.rows.map { "\($0.clause)" })
        #expect(reader.elements["failure"]?.count == report.violations.count)
        #expect(suite["failures"] == "\(report.violations.count)")
        #expect(reader.elements["error"]?.count == report.notJudged.count)
        #expect(suite["errors"] == "\(report.notJudged.count)")
        let skipped = report.rows.count { if case .skipped = $0.outcome { true } else { false } }
        #expect(reader.elements["skipped"]?.count == skipped)
        #expect(suite["skipped"] == "\(skipped)")
        #expect(reader.elements["system-out", default: []].count == report.advice.count)
    }
}

/// The elements of a document by their names, with their attributes.
private final class JUnitReader: NSObject, XMLParserDelegate {
    var elements: [String: [[String: String]]] = [:]

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
