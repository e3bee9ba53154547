/// A reply without a token that a server sends, and what it means there.
///
/// ```swift
/// .when("errcode", is: "42002", means: .sessionEnded, source: "the server's list of codes")
/// ```
public struct ReplyRule: Hashable, Sendable {
    private enum Condition: Hashable, Sendable {
        case member([String], values: [String])
        case anything
    }

    private let condition: Condition
    /// The statuses of HTTP with which it is so; empty for all.
    private let statuses: [Int]

    /// What the reply means.
    public let meaning: ReplyMeaning

    /// Who says so; `nil` if the rule is told from hearsay.
    public let source: String?

    /// A member of the reply has one of these values.
    ///
    /// - Parameters:
    ///   - member: its name, with the names of the objects around it: `error_code`, `error.message`. A list adds none.
    ///   - values: text or numbers, in any case.
    ///   - status: the status of HTTP with which it is so; `nil` for any.
    ///   - meaning: what the reply means.
    ///   - source: who says so; `nil` if nobody but you knows.
    public static func when(
        _ member: String,
        is values: String...,
        status: Int? = nil,
        means meaning: ReplyMeaning,
        source: String? = nil
    ) -> ReplyRule {
        let path = member.split(separator: ".").map(String.init)
        return ReplyRule(
            condition: .member(path, values: values),
            statuses: status.map { [$0] } ?? [],
            meaning: meaning,
            source: source
        )
    }

    /// The status of HTTP is one of these, whatever the body says.
    public static func when(
        status: Int...,
        means meaning: ReplyMeaning,
        source: String? = nil
    ) -> ReplyRule {
        ReplyRule(condition: .anything, statuses: status, meaning: meaning, source: source)
    }

    func holds(for reply: TokenEndpointReply, _ leaves: [JSONLeaves.Leaf]) -> Bool {
        guard statuses.isEmpty || statuses.contains(reply.status) else { return false }
        switch condition {
        case .anything: return true
        case .member(let path, let values):
            return leaves.contains { leaf in
                guard leaf.path == path, let shown = leaf.value.shown?.lowercased() else { return false }
                return values.contains { $0.lowercased() == shown }
            }
        }
    }
}

extension ReplyRule: CustomStringConvertible {
    /// The condition, as the page of servers shows it: "`errcode` is `42002`".
    public var description: String {
        let codes = statuses.map(String.init).joined(separator: ", ")
        switch condition {
        case .anything: return "status \(codes)"
        case .member(let path, let values):
            let value = values.map { "`\($0)`" }.joined(separator: ", ")
            return "`\(path.joined(separator: "."))` is \(value)" + (statuses.isEmpty ? "" : " with status \(codes)")
        }
    }
}
