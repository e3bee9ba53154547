import Foundation
import OAuthFoundation

/// The servers that wait for the redirect of a ``LoopbackLogin``, one at each address that the redirect URI stands for.
struct LoopbackListeners: Sendable {
    private struct Refusal: Error {
        let failure: SocketFailure
        let port: UInt16
    }

    private static let addresses: [String: [LoopbackAddress]] = [
        "127.0.0.1": [.version4], "::1": [.version6], "localhost": [.version4, .version6],
    ]

    /// Ports that are tried where any will do.
    private static let mostPorts = 16

    /// The redirect URI with its port.
    let redirectURI: String

    private let servers: [LoopbackHTTPServer]

    /// - Parameter listen: listens at a port of an address; at port 0, where the system chooses.
    init(
        at text: String,
        listen: (LoopbackAddress, UInt16) throws(SocketFailure) -> LoopbackHTTPServer
    ) throws(LoginError) {
        guard var parts = URLComponents(string: text), parts.scheme?.lowercased() == "http",
            let host = parts.percentEncodedHost?.lowercased(),
            let addresses = Self.addresses[host.trimmingCharacters(in: ["[", "]"])]
        else { throw .unusable("the redirect URI is not http on 127.0.0.1, [::1] or localhost") }
        guard let wanted = UInt16(exactly: parts.port ?? 0) else {
            throw .unusable("the redirect URI has no such port")
        }
        servers = try Self.servers(at: addresses, wanted, listen)
        parts.port = servers.first.map { Int($0.port) }
        guard let text = parts.string else {
            Self.stop(servers)
            throw .unusable("the redirect URI takes no port")
        }
        redirectURI = text
    }

    /// Stops on a thread of its own: it waits until the last page is sent.
    func close(then done: @escaping @Sendable () -> Void = {}) {
        Thread.detachNewThread { [servers] in
            Self.stop(servers)
            done()
        }
    }

    private static func stop(_ servers: [LoopbackHTTPServer]) { for server in servers { server.stop() } }

    private static func servers(
        at addresses: [LoopbackAddress],
        _ wanted: UInt16,
        _ listen: (LoopbackAddress, UInt16) throws(SocketFailure) -> LoopbackHTTPServer
    ) throws(LoginError) -> [LoopbackHTTPServer] {
        var attempts = 0
        while true {
            do throws(Refusal) {
                return try servers(atEachOf: addresses, wanted, listen)
            } catch {
                attempts += 1
                // A port that is free at the first address may be another program's at the second one.
                guard wanted == 0, error.failure.isPortTaken, attempts < mostPorts else { throw loginError(of: error) }
            }
        }
    }

    private static func servers(
        atEachOf addresses: [LoopbackAddress],
        _ wanted: UInt16,
        _ listen: (LoopbackAddress, UInt16) throws(SocketFailure) -> LoopbackHTTPServer
    ) throws(Refusal) -> [LoopbackHTTPServer] {
        var servers: [LoopbackHTTPServer] = []
        for address in addresses {
            let port = servers.first?.port ?? wanted
            do throws(SocketFailure) {
                servers.append(try listen(address, port))
            } catch {
                // A machine without the second address of localhost: browsers take the first.
                if !servers.isEmpty, error.isAddressMissing { break }
                // Otherwise another program at the second address would get the code from the browser.
                stop(servers)
                throw Refusal(failure: error, port: port)
            }
        }
        return servers
    }

    private static func loginError(of refusal: Refusal) -> LoginError {
        let (failure, port) = (refusal.failure, refusal.port)
        if failure.isPortTaken { return .portTaken(port) }
        if failure.isOutOfDescriptors { return .noDescriptorLeft }
        guard failure.isForbidden else {
            // EPERM: so does the sandbox of macOS refuse a port.
            let next =
                failure.code == EPERM ? "; in a sandbox it takes the entitlement com.apple.security.network.server" : ""
            return .unusable("this machine gives no port to listen on (\(failure.call), errno \(failure.code))\(next)")
        }
        return .unusable(
            "this program has no right to port \(port); register a redirect URI without a port, or with one from 1024 on"
        )
    }
}
