import AccessTokenAdapters

/// A screen of callback code, for the census: the line of its call is what a test looks for.
struct BusyScreen {
    let tokens: any AccessTokenProviding

    static let file = #filePath
    static let line = Int(#line) + 3

    func show() {
        tokens.retrieveToken { _ in }
    }
}
