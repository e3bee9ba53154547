import Foundation

/// What a request's body is taken from.
enum HTTPUpload: Hashable, Sendable {
    /// The request itself: its data, its stream, or nothing.
    case ofRequest
    case data(Data)
    case file(URL)
}
