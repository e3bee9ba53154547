import Foundation

/// Why a reply has no token, as far as its body says: the words and sentences of the places where servers explain it.
struct ReplyTexts {
    /// A place that says why, and what stands there.
    struct Text: Hashable {
        /// The name of the member, in lower case and without separators; empty for a body that is no object.
        let place: String
        let text: String
        /// Whether it stands in the body's own object, and not in one inside of that.
        let isOuter: Bool
    }

    /// In the order in which they count.
    private(set) var texts: [Text] = []
    /// The server says that the same request may succeed later.
    private(set) var saysThatItPasses = false
    /// Seconds after which to ask again, says the body.
    private(set) var retryAfter: TimeInterval?
    /// The numbers and words by which a reply says that it failed, whatever its status: `errcode_42002`.
    private(set) var failures: [String] = []
    /// A number of HTTP's that stands in the body, in place of or beside the status.
    private(set) var innerStatus: Int?

    /// Where servers write a word for a program; what stands first counts.
    private static let codes = [
        "error", "errorcode", "errcode", "code", "errortype", "type", "status", "reason", "result", "err", "name",
    ]
    /// Where they narrow a word down.
    static let subcodes = ["suberror", "errorsubtype"]
    /// Where they write to a person, though many of them a word.
    private static let sentences = [
        "errordescription", "message", "msg", "errormessage", "errmsg", "errorsummary", "description", "detail",
        "details", "title", "errorreason", "hint",
    ]
    private static let places = codes + subcodes + sentences

    /// The server's own word, known here or not; `nil` if it has none.
    var ownWord: String? {
        texts.first { text in
            Self.codes.contains(text.place) && !Self.isVague(text.text) && SentSecrets.isCode(text.text)
        }?.text
    }

    /// Whether there is an error that is text, be that a code or not.
    var hasError: Bool { texts.contains { $0.place == "error" && $0.isOuter } }

    /// The sentence for the people who build the app: the outermost one that is no word.
    var explanation: String? { texts.first { Self.sentences.contains($0.place) }?.text }

    /// Where a number other than zero says that the request failed.
    private static let numbers = ["error", "errorcode", "errcode", "errno", "code", "status"]
    private static let successes: Set = ["ok", "success", "succeeded", "successful"]
    private static let badStatuses: Set = ["fail", "failed", "failure", "error", "false"]

    /// Those of HTTP after which a request may succeed later.
    private static let passingStatuses: Set = [408, 425, 429, 500, 502, 503, 504, 529]

    /// In bytes: a body that is longer, and no object, is a page.
    private static let longestText = 500

    /// The body of a reply that has no token.
    init(of reply: TokenEndpointReply) {
        let body = reply.body
        if let members = JSONMembers(reading: body) {
            read(JSONLeaves(of: members).all, of: reply)
        } else if body.count <= Self.longestText, let text = String(data: body, encoding: .utf8), !text.contains("<") {
            let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
            if !text.isEmpty { texts = [Text(place: "", text: text, isOuter: true)] }
        }
    }

    private mutating func read(_ leaves: [JSONLeaves.Leaf], of reply: TokenEndpointReply) {
        var found: [(rank: Int, text: Text)] = []
        var mistakes: [Int: (field: String?, what: [String])] = [:]
        for leaf in leaves {
            let name = JSONMembers.spelling(of: leaf.name)
            let isOuter = leaf.path.count == 1
            if case .text(let text) = leaf.value, !text.isEmpty {
                if let rank = Self.places.firstIndex(of: name) {
                    found.append((rank, Text(place: name, text: text, isOuter: isOuter)))
                } else if !isOuter, leaf.path[0] == "errors" {
                    // `{"errors":{"refresh_token":["The refresh token is invalid."]}}`
                    found.append((Self.places.count, Text(place: "message", text: text, isOuter: false)))
                }
                // Of a list of mistakes, each says which field it is about: {"field":"refresh_token","code":"invalid"}.
                if ["field", "param", "parameter"].contains(name) {
                    mistakes[leaf.object, default: (nil, [])].field = text
                } else if ["code", "reason", "message"].contains(name) {
                    mistakes[leaf.object, default: (nil, [])].what.append(text)
                }
            }
            if ["retryafter", "waitseconds", "retryafterseconds"].contains(name),
                let seconds = reply.seconds(until: leaf.value.shown)
            {
                retryAfter = seconds
            }
            readSigns(of: leaf, name, isOuter: isOuter)
        }
        // The outer object first, then by place. The number keeps the order of those that are alike.
        texts = found.enumerated()
            .map { (order: ($0.element.text.isOuter ? 0 : 1, $0.element.rank, $0.offset), text: $0.element.text) }
            .sorted { $0.order < $1.order }
            .map(\.text)
        for case (let field?, let what) in mistakes.sorted(by: { $0.key < $1.key }).map(\.value) {
            texts.append(Text(place: "message", text: ([field] + what).joined(separator: " "), isOuter: false))
        }
    }

    /// What is no text for people: flags and numbers.
    private mutating func readSigns(of leaf: JSONLeaves.Leaf, _ name: String, isOuter: Bool) {
        let number: Double? = if case .number(let digits) = leaf.value { Double(digits) } else { nil }
        if ["istransient", "retryable", "isretryable"].contains(name), leaf.value == .flag(true) {
            saysThatItPasses = true
        }
        if let number, ["error", "code", "status", "errorcode", "errcode"].contains(name),
            Self.passingStatuses.contains(where: { Double($0) == number })
        {
            innerStatus = innerStatus ?? Int(number)
        }
        // A member of these names inside of another object may be about something else.
        guard isOuter || ["errorcode", "errcode"].contains(name) else { return }
        let isFailure: Bool
        switch leaf.value {
        case .flag(let flag): isFailure = flag ? name == "error" : ["success", "ok"].contains(name)
        case .number(let digits): isFailure = Self.numbers.contains(name) && !Self.isSuccess(digits)
        case .text(let text):
            let word = text.lowercased()
            isFailure =
                switch name {
                case "success", "ok": word == "false"
                case "status": Self.badStatuses.contains(word) || Double(word) != nil && !Self.isSuccess(word)
                case _ where Self.numbers.contains(name): !Self.isSuccess(word)
                default: false
                }
        case .null, .structure: isFailure = false
        }
        if isFailure, let shown = leaf.value.shown { failures.append("\(leaf.name)_\(shown)") }
    }

    /// Whether a text that stands where others name their error says that there was none: nothing, a word, or a status
    /// of HTTP.
    static func isSuccess(_ text: String) -> Bool {
        TokenReplyMembers.isNothing(text) || successes.contains(text.lowercased())
            || Double(text).map { (200...299).contains($0) } == true
    }

    /// Whether a text says whether there is a token, and not why.
    private static func isVague(_ text: String) -> Bool {
        let word = text.lowercased()
        return isSuccess(word) || badStatuses.contains(word) || word == "true" || Double(word) != nil
    }
}
