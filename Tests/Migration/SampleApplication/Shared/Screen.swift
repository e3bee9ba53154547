/// What the user sees.
package enum Screen: Equatable, Sendable {
    case empty
    case loading
    case profile(user: String, friends: [String])
    case failed
    case signedOut
}
