import Foundation

/// A whole reply: status and body.
struct HTTPReply: Sendable {
    let status: Int
    let body: Data
}
