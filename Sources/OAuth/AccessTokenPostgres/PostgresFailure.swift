#if Postgres
package import Foundation

/// What a statement brought.
package struct PostgresReply: Sendable {
    /// The rows, each with its columns; `nil` is NULL.
    package let rows: [[Data?]]
}

/// Why a statement failed.
package struct PostgresFailure: Error, Sendable {
    /// The engine's words, without secrets.
    package private(set) var words: String
    /// The SQLSTATE, if the server gave one.
    package let code: String?
    /// Whether the connection is gone: the statement was carried out, or was not, or will be later.
    package let isConnectionLost: Bool
    /// Whether the server has said nothing for too long, as one that has vanished.
    let isSilence: Bool
    /// Whether no connection could be opened.
    private(set) var isOpening = false

    /// Whether it fails until a person mends it: who may connect, what there is, and what the role may do.
    ///
    /// libpq gives no code for a connection that fails, but the server's words, which this tells in English alone.
    var needsRepair: Bool {
        if let code {
            return Self.unstorable.contains(code) || ["0A", "28", "3D", "3F", "42"].contains { code.hasPrefix($0) }
        }
        let words = [
            "authentication failed", "does not exist", "pg_hba.conf", "permission denied", "no password supplied",
        ]
        return words.contains { self.words.contains($0) }
    }

    /// The SQLSTATE where a statement with its plan is not there, which the same connection has made.
    static let noSuchStatement = "26000"

    /// The SQLSTATEs of a text that no column of the database can hold; the only texts here are names of accounts.
    private static let unstorable = ["22021", "22P05"]

    /// The failure where the name of an account is no text for the database; `nil` for other codes.
    static func unstorable(_ code: String?) -> PostgresFailure? {
        guard let code, unstorable.contains(code) else { return nil }
        let what = "the account's name has a character that the database cannot hold, which is NUL or one that its"
        return PostgresFailure(words: "\(what) encoding lacks; use another name", code: code)
    }

    /// Another connection has carried a statement out than the one that it was sent on.
    static let pooler = PostgresFailure(
        words: """
            a pooler between this process and the server gives connections out by transaction or statement, and so a lock \
            by which processes see each other is lost. Set pool_mode=session in PgBouncer for this user or database, or \
            connect to the server directly
            """,
        code: "0A000"
    )

    /// Whether another connection held a lock for longer than `lock_timeout`.
    var isLockTimeout: Bool { code == "55P03" }

    /// The same of a connection that is being opened.
    var whileOpening: PostgresFailure {
        var failure = self
        failure.isOpening = true
        return failure
    }

    init(words: String, code: String? = nil, isConnectionLost: Bool = false, isSilence: Bool = false) {
        self.words = code.map { "\(words) (SQLSTATE \($0))" } ?? words
        self.code = code
        self.isConnectionLost = isConnectionLost
        self.isSilence = isSilence
    }

    /// The same failure, with more words before its own.
    func saying(_ words: String) -> PostgresFailure {
        var failure = self
        failure.words = "\(words): \(self.words)"
        return failure
    }
}
#endif
