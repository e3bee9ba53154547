extension ContractReport {
    /// The report as JUnit XML, for a CI server that shows a row for each clause: write it to a file that the server
    /// collects.
    ///
    /// A broken clause is a failure, with all that its description says. A clause that could not be judged is an error,
    /// and a skipped one is skipped. Advice is no failure: it is the output of a clause that passed, as are the
    /// situations in which the clause could not be judged.
    public var junitXML: String {
        let counts = """
            tests="\(rows.count)" failures="\(violations.count)" errors="\(notJudged.count)" \
            skipped="\(rows.count(where: \.outcome.isSkipped))"
            """
        let cases = rows.map { clause, outcome in
            let head = "  <testcase classname=\"\(subject.inXML)\" name=\"\("\(clause)".inXML)\""
            let notes = leftOut.filter { $0.clause.id == clause.id }.lines.map(\.asOutputInXML)
            let parts = [outcome.junitXML].compactMap(\.self) + notes
            return parts.isEmpty ? "\(head)/>" : "\(head)>\(parts.joined())</testcase>"
        }
        let head = "<testsuite name=\"\("The contract on \(subject)".inXML)\" \(counts)>"
        return (["<?xml version=\"1.0\" encoding=\"UTF-8\"?>", head] + cases + ["</testsuite>", ""])
            .joined(separator: "\n")
    }
}

extension ContractOutcome {
    fileprivate var junitXML: String? {
        switch self {
        case .kept: nil
        case .skipped(let reason): "<skipped message=\"\(reason.inXML)\"/>"
        case .notJudged(let reason): "<error message=\"\(reason.inXML)\"/>"
        case .broken(let violation):
            "<failure message=\"\(violation.summary.inXML)\">\(violation.description.inXML)</failure>"
        case .advised(let violation): violation.description.asOutputInXML
        }
    }
}

extension String {
    fileprivate var asOutputInXML: String { "<system-out>\(inXML)</system-out>" }

    /// The text without what means something in XML, or is not allowed there: control characters.
    fileprivate var inXML: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "\n", "\t": text.unicodeScalars.append(scalar)
            case "\u{20}"..."\u{FFFD}", "\u{10000}"..."\u{10FFFF}": text.unicodeScalars.append(scalar)
            default: text += "?"
            }
        }
        return text
    }
}
