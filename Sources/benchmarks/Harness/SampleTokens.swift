import AccessTokenAsync
import Foundation

extension AccessToken {
    /// Valid for the time of a run; as long as opaque tokens are, and so on the heap.
    static let valid = AccessToken(value: String(repeating: "t0ken", count: 8), expiration: Date() + 86_400)
}
