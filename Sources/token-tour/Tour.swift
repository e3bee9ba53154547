import AccessTokenOAuth
import Foundation

/// Runs the set-ups one after the other.
struct Tour: Sendable {
    let options: Options
    /// The credential that our set-ups hand on; `nil` on the built-in server.
    let held: HeldCredential?
    private let naive: [SetUpName: HeldCredential]

    init(options: Options) {
        self.options = options
        held = options.server?.credential.map(HeldCredential.init)
        naive = options.server?.naiveCredentials.mapValues(HeldCredential.init) ?? [:]
    }

    /// What to say of the server, by now.
    var server: ServerNote {
        options.server.map { .user($0.endpoint.url, credentials) } ?? .builtIn
    }

    /// The refresh token to go on with after the tour; `nil` on the built-in server.
    var refreshToken: String? { credentials.first?.refreshToken }

    /// - Throws: what ``SetUpRun/run(onRound:)`` and ``ServerCheck/run()`` throw.
    func run(progress: ProgressLine) async throws -> [SetUpResult] {
        defer { progress.end() }
        if let server = options.server, let first = options.setUps.first.flatMap(credential) {
            progress.say("One caller alone tries \(server.endpoint.url.host() ?? "the server") first.")
            try await ServerCheck(options: server, held: first).run()
        }
        var results: [SetUpResult] = []
        for name in options.setUps {
            let result = try await run(name).run { round in progress.show(name, round: round, of: options.rounds) }
            results.append(result)
            // Somebody's own server is not to be troubled for nothing.
            if options.server != nil, name.isOurs, !result.isGood { break }
        }
        return results
    }

    private var credentials: [HeldCredential] {
        options.setUps.filter { !$0.isOurs }.compactMap { naive[$0] }.reduce(into: [held].compactMap(\.self)) {
            $0.append($1)
        }
    }

    private func credential(of name: SetUpName) -> HeldCredential? {
        name.isOurs ? held : naive[name]
    }

    private func run(_ name: SetUpName) -> SetUpRun {
        SetUpRun(name: name, rounds: options.rounds, callers: options.callers) { [server = options.server] recorder in
            guard let server, let credential = credential(of: name) else {
                return try BuiltInServer(recorder: recorder)
            }
            return UserServer(server, held: credential, for: name, recorder: recorder)
        }
    }
}
