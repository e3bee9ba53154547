import AccessTokenAdapters

/// Another one, which calls from inside a closure.
struct QuietScreen {
    let tokens: any AccessTokenProviding

    static let file = #filePath
    static let line = Int(#line) + 4

    func show() {
        [1, 2].forEach { _ in
            tokens.retrieveToken { _ in }
        }
    }
}
