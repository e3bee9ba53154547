#if Postgres
import CLibpq
import Foundation

/// A server as a connection string names it, and what errors may say of it.
package struct PostgresServer: Sendable {
    /// What the connection string may overrule.
    ///
    /// A server that does not answer must be left for the next one of the string long before the take-over delay is
    /// over.
    private static let defaults = [
        ("connect_timeout", "5"), ("tcp_user_timeout", "60000"), ("keepalives_idle", "30"),
        ("keepalives_interval", "10"), ("keepalives_count", "3"), ("client_encoding", "UTF8"),
        ("fallback_application_name", "access-token-service"),
    ]

    /// What errors call the server: its host, port and database.
    package let name: String
    /// What is wrong with the connection string; `nil` if nothing is.
    package let mistake: String?
    private let connectionString: String
    private let secrets: [String]

    package init(_ connectionString: String) {
        self.connectionString = connectionString
        var options: [String: String] = [:]
        var secrets: [String] = []
        let parsed = unsafe PQconninfoParse(connectionString, nil)
        var next = unsafe parsed
        while let option = unsafe next, let keyword = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val.map({ unsafe String(cString: $0) }), !value.isEmpty {
                unsafe options[String(cString: keyword)] = value
                // By this mark libpq says that a value must not be shown.
                if unsafe String(cString: option.pointee.dispchar) == "*" { secrets.append(value) }
            }
            unsafe next = option + 1
        }
        self.secrets = secrets
        if unsafe parsed == nil {
            // libpq's own words repeat what stands there.
            mistake = "the connection string is none that libpq can read"
        } else if !Self.isPlain(options) {
            mistake = "host, port or database have an @ or a letter too many; write special characters as %40 and so on"
        } else {
            mistake = nil
        }
        unsafe PQconninfoFree(parsed)
        guard mistake == nil else {
            name = "PostgreSQL"
            return
        }
        let host = options["host"] ?? options["hostaddr"] ?? "this machine"
        let port = options["port"].map { ":\($0)" } ?? ""
        name = "PostgreSQL on \(host)\(port)" + (options["dbname"].map { ", database \($0)" } ?? "")
    }

    /// Whether no part of a password was taken for an address, as happens to a URL with an @ or a slash in the
    /// password.
    private static func isPlain(_ options: [String: String]) -> Bool {
        let names = ["host", "hostaddr", "dbname"].compactMap { options[$0] }
        return !names.contains { $0.contains("@") }
            && options["port", default: ""].allSatisfy { $0.isASCII && $0.isNumber || $0 == "," }
    }

    /// Opens a connection, which may have failed; blocks the thread for as long.
    func connect() -> OpaquePointer? {
        // The string stands last: what it says wins.
        let options = Self.defaults + [("dbname", connectionString)]
        let keywords = unsafe options.map { unsafe strdup($0.0) }
        let values = unsafe options.map { unsafe strdup($0.1) }
        defer { unsafe (keywords + values).forEach { unsafe free($0) } }
        return unsafe PQconnectdbParams(
            keywords.map { unsafe UnsafePointer($0) } + [nil],
            values.map { unsafe UnsafePointer($0) } + [nil],
            1
        )
    }

    /// The engine's words in one line, without the password.
    func printable(_ words: String) -> String {
        let line = words.split(whereSeparator: \.isNewline).joined(separator: " ")
        return secrets.reduce(line) { $0.replacingOccurrences(of: $1, with: "<hidden>") }
    }
}

extension PostgresServer: CustomStringConvertible, CustomReflectable {
    /// The name, and never the password.
    package var description: String { name }

    /// A mirror without the connection string: `dump` prints no password.
    package var customMirror: Mirror { Mirror(self, children: ["name": name], displayStyle: .struct) }
}
#endif
