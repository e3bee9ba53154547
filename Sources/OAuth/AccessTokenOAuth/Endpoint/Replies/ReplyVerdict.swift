import Foundation

/// What a reply without a token means: the one place that decides it, without network and clock.
///
/// The first line that holds counts. A reply that asks to come again later is never taken for the end of a session:
/// that would sign the user out.
///
/// | the reply | means |
/// | --- | --- |
/// | has the status 408, 429, 5xx, or one that HTTP does not have, such as 999 | later |
/// | has a word for later, or a flag such as `is_transient` | later |
/// | has a word for the user, or `suberror` or `error_subtype` beside `invalid_grant` | the user |
/// | has a word for the end of a session | the end, unless its sentence speaks of a limit and of no dead token |
/// | has a word of the device grant | what the word says |
/// | has a sentence of the device grant, beside no word that blames the client or the request | what it says |
/// | has a sentence for later | later |
/// | has a sentence of a dead refresh token, beside no word that blames the client or the request | the end |
/// | has a sentence for the user | the user |
/// | has `Retry-After`, or the status 409, 420, 423 or 425 | later |
/// | has another word | a mistake |
struct ReplyVerdict: Hashable, Sendable {
    let meaning: ReplyMeaning
    /// The server's own word for it; `nil` if the server has a sentence only.
    let word: String?

    /// Those of a server that says with the status alone that the request may succeed later: 409 and 423 of one that
    /// still handles another request, 420 of one that is asked too often, 425 (RFC 8470).
    private static let passing: Set = [409, 420, 423, 425]

    /// Beside these, a sentence about a token or a code speaks of the client's own, or of the request.
    private static let blaming: Set = ["invalid_client", "unsupported_grant_type", "invalid_scope", "invalid_target"]

    /// By these a `suberror` says that the refresh token itself is no good; any other one wants the user (Microsoft).
    private static let deadTokens: Set = ["bad_token", "token_expired"]

    /// `nil` if the reply says nothing that is known here.
    static func of(_ reply: TokenEndpointReply, _ texts: ReplyTexts, for grant: GrantKind) -> ReplyVerdict? {
        let words = texts.texts.compactMap { known($0, for: grant) }
        let blame = words.firstIndex { $0.word.map(blaming.contains) ?? false }
        func first(_ meaning: ReplyMeaning) -> ReplyVerdict? { words.first { $0.meaning == meaning } }
        if hasPassingStatus(reply.status) {
            // Any other word beside such a status says nothing of the token.
            return first(.slowDown) ?? first(.later) ?? ReplyVerdict(meaning: .later, word: nil)
        }
        if let later = first(.later) { return later }
        if texts.saysThatItPasses { return ReplyVerdict(meaning: .later, word: words.first?.word) }
        if let user = first(.needsUser) { return user }
        let sentences = texts.texts.map { ReplySentence($0.text) }
        let saysLater = sentences.contains(where: \.saysLater)
        // A page in the server's place may speak of a session, or of a login, of its own.
        let isPage = texts.texts.first?.place.isEmpty == true
        let saysEnd =
            grant == .renewal
            && sentences.contains { isPage ? $0.saysThatRefreshTokenIsDead : $0.saysThatSessionEnded }
        // What stands behind a word that blames the client is about something else.
        if let end = words[..<(blame ?? words.endIndex)].first(where: { $0.meaning == .sessionEnded }) {
            if let part = texts.texts.first(where: { ReplyTexts.subcodes.contains($0.place) }),
                grant == .renewal, !deadTokens.contains(part.text)
            {
                return ReplyVerdict(meaning: .needsUser, word: part.text)
            }
            return saysLater && !saysEnd ? ReplyVerdict(meaning: .later, word: end.word) : end
        }
        if let device = words.first(where: { $0.meaning.isOfDevice }) { return device }
        if grant == .device, blame == nil, let meaning = sentences.lazy.compactMap(\.meaningForDevice).first {
            return ReplyVerdict(meaning: meaning, word: nil)
        }
        let word = words.first?.word ?? texts.ownWord
        if saysLater { return ReplyVerdict(meaning: .later, word: word) }
        if blame == nil {
            if saysEnd { return ReplyVerdict(meaning: .sessionEnded, word: word) }
            if grant == .renewal, !isPage, sentences.contains(where: \.saysThatUserIsNeeded) {
                return ReplyVerdict(meaning: .needsUser, word: word)
            }
        }
        if reply.retryAfter != nil || texts.retryAfter != nil || passing.contains(reply.status) {
            return ReplyVerdict(meaning: .later, word: word)
        }
        if texts.innerStatus != nil { return ReplyVerdict(meaning: .later, word: word) }
        return words.first ?? texts.ownWord.map { ReplyVerdict(meaning: .mistake, word: $0) }
    }

    /// A server that is asked too often, does not get there, or has failed, says nothing of the token.
    ///
    /// A status that HTTP does not have counts as one of 5xx (RFC 9110, section 15).
    static func hasPassingStatus(_ status: Int) -> Bool {
        [408, 429].contains(status) || !(100..<500).contains(status)
    }

    private static func known(_ text: ReplyTexts.Text, for grant: GrantKind) -> ReplyVerdict? {
        // "INVALID_GRANT: the token has expired" begins with a word.
        let candidates = [text.text, String(text.text.prefix { $0 != ":" })]
        let known = candidates.lazy.compactMap { ReplyWord.known($0, for: grant) }.first
        // As above: on a page, "invalid token" need not be about this one.
        guard let known, !text.place.isEmpty || known.grant == nil else { return nil }
        return ReplyVerdict(meaning: known.meaning, word: known.word)
    }
}
