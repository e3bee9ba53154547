import Foundation

/// A server's own ways at its token endpoint, as data: where the tokens are, their types, and what its words mean.
///
/// ```swift
/// endpoint.server = .withings
/// ```
///
/// Words that mean the same wherever they come from need no value here: <doc:Servers> has both tables, and shows how
/// to add a server of your own.
public struct KnownServer: Hashable, Sendable {
    /// What people call the server.
    public let name: String

    /// The object of a successful reply in which the tokens are; `nil` if they are the reply's own members.
    public let tokensIn: String?

    /// Types of access token that the server calls so, and means `Bearer` by.
    public let tokenTypes: Set<String>

    /// What replies without a token mean, but to a device that polls.
    ///
    /// The first rule that holds counts.
    public let rules: [ReplyRule]

    /// What they mean to a device that polls.
    public let deviceRules: [ReplyRule]

    /// Who says where the tokens are and of what type; `nil` if that is as RFC 6749 has it, or told from hearsay.
    public let source: String?

    /// Creates a server.
    public init(
        _ name: String,
        tokensIn: String? = nil,
        tokenTypes: Set<String> = [],
        source: String? = nil,
        rules: [ReplyRule] = [],
        deviceRules: [ReplyRule] = []
    ) {
        self.name = name
        self.tokensIn = tokensIn
        self.tokenTypes = tokenTypes
        self.source = source
        self.rules = rules
        self.deviceRules = deviceRules
    }

    /// A server that names itself in each error, so that nobody has to: Microsoft does, by numbers such as AADSTS50076.
    static func recognised(in reply: TokenEndpointReply) -> KnownServer? {
        reply.body.range(of: Data("AADSTS".utf8)) == nil ? nil : .microsoft
    }

    /// The tokens where this server has them; `nil` leaves the reply to the usual reading.
    func response(from reply: TokenEndpointReply) -> TokenResponse? {
        tokensIn.flatMap { TokenResponse(members: reply.members(of: $0), received: reply.received) }
    }

    /// What a reply without a token means by the server's rules; `nil` if none of them holds.
    func meaning(of reply: TokenEndpointReply, for grant: GrantKind) -> ReplyMeaning? {
        let rules = grant == .device ? deviceRules : rules
        guard !rules.isEmpty else { return nil }
        let leaves = JSONMembers(reading: reply.body).map { JSONLeaves(of: $0).all } ?? []
        return rules.first { $0.holds(for: reply, leaves) }?.meaning
    }
}
