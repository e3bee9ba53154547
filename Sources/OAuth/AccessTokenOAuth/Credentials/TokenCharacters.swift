import AccessTokenCore
import Foundation

/// Which tokens a request can carry: asked where a credential is made, wherever its tokens come from.
enum TokenCharacters {
    /// Whether a header can carry an access token (RFC 6750, section 2.1; RFC 6749, appendix A.12).
    static func canBeSent(_ accessToken: AccessToken) -> Bool {
        !accessToken.value.isEmpty && accessToken.value.utf8.allSatisfy((UInt8(0x21)...0x7E).contains)
    }

    /// The refresh token without the white space around it; `nil` if nothing is left that can be one.
    ///
    /// RFC 6749, appendix A.17, has no line break in a refresh token, and section 6 has no empty one. A file that was
    /// written by hand ends with a line break.
    static func sendable(_ refreshToken: String) -> String? {
        let token = refreshToken.trimmingCharacters(in: .whitespacesAndNewlines)
        return !token.isEmpty && token.utf8.allSatisfy((UInt8(0x20)...0x7E).contains) ? token : nil
    }
}
