/// The two tokens of a pair.
package enum TokenKind: Hashable, Sendable {
    case access
    case refresh
}
