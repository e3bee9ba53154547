/// A short name that stands for a token, so that people never see its value.
///
/// `A1` and `R1` come with a sign-in, `A2` and `R2` with the first rotation.
package struct TokenName: Hashable, Sendable, CustomStringConvertible {
    package let kind: TokenKind
    /// The sign-in from which the token descends, counted from 1.
    package let family: Int
    /// 1 at sign-in, and one more with each rotation.
    package let generation: Int

    package var description: String {
        switch kind {
        case .access: "A\(generation)"
        case .refresh: "R\(generation)"
        }
    }
}
