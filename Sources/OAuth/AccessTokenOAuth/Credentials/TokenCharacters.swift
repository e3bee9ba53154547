import AccessTokenCore
import Foundation

/// Which tokens a request can carry: asked where a credential is made, wherever its tokens come from.
enum TokenCharacters {
    /// Whether a header can carry an access token (RFC 6750, section 2.1; RFC 6749, appendix A.12).
    static func canBeSent(_ accessToken: AccessToken) -> Bool {
        !accessToken.value.isEmpty && accessToken.value.utf8.allSatisfy((UInt8(0x21)...0x7E).contains)
    }

    /// Whether a reply's refresh token is one (RFC 6749, appendix A.17).
    ///
    /// Unlike ``sendable(_:)``, it mends nothing: what is wrong in a reply may be a part of the token that is lost.
    static func canBeKept(_ refreshToken: String) -> Bool {
        refreshToken.utf8.allSatisfy((UInt8(0x20)...0x7E).contains)
    }

    /// What is wrong with an access token that cannot be sent.
    static let notSent = "the access token is empty, or has characters that no header can carry"

    /// What is wrong with a refresh token that cannot be kept.
    static let notKept = "the refresh token has characters that none may have"

    /// The refresh token without the white space around it; `nil` if nothing is left that can be one.
    ///
    /// RFC 6749, appendix A.17, has no line break in a refresh token, and section 6 has no empty one. A file that was
    /// written by hand ends with a line break.
    static func sendable(_ refreshToken: String) -> String? {
        let token = refreshToken.trimmingCharacters(in: .whitespacesAndNewlines)
        return !token.isEmpty && canBeKept(token) ? token : nil
    }
}
