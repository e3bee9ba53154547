import Foundation
import Testing

/// A port on which nobody listens.
enum Nobody {
    /// No system gives port 1 to a server that asks for any; the port of a server that has stopped soon has a new one.
    static var url: URL {
        get throws { try #require(URL(string: "http://127.0.0.1:1/")) }
    }
}
