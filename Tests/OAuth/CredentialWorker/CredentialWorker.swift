import AccessTokenAsync
import AccessTokenCore
import AccessTokenOAuth
import Foundation

/// A process that shares a credential with others, and that tests kill.
///
/// Its arguments are the task, and then names with values. It ends when its standard input ends: none is left
/// when the tests end.
@main
enum CredentialWorker {
    static func main() async throws {
        let input = endWithStandardInput()
        let arguments = try WorkerArguments(CommandLine.arguments.dropFirst())
        // Many share; a single one that a test waits for has a deadline to keep.
        if arguments.task == "share" { yieldToTests() }
        let journal = try Journal(arguments.value("journal"))
        if arguments.task == "crowd" { return try await crowd(arguments, journal, until: input) }
        let store = JournalingStore(
            base: try arguments.store(),
            journal: journal,
            stopsAtSave: arguments.stops(at: "save")
        )
        switch arguments.task {
        case "share": try await share(store, arguments, journal)
        case "hold": try await hold(store, journal, until: input)
        case "hold-with-child": try await hold(store, journal, until: input, withChild: true)
        case "load": try await load(store, arguments, journal, until: input)
        default: throw WorkerArguments.Mistake(text: "there is no task \(arguments.task)")
        }
    }

    /// Callers that use a token now and then, and of which one after the other finds it rejected, for ever.
    private static func share(_ store: JournalingStore, _ arguments: WorkerArguments, _ journal: Journal) async throws {
        let service = AsyncAccessTokenService(
            loader: OAuthLoader(endpoint: try arguments.endpoint(journal), store: store)
        )
        let callers = Int(try arguments.number("callers"))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<callers {
                group.addTask {
                    while true {
                        // Without a token, no user is signed in, until the parent signs one in.
                        let token = try? await service.token()
                        if let token, Int.random(in: 0..<250) == 0 { await service.invalidate(token) }
                        try? await Task.sleep(for: .milliseconds(.random(in: 2...16)))
                    }
                }
            }
        }
    }

    /// Goes inside, stays there until it is told to go on, and then wants to write.
    private static func hold(
        _ store: JournalingStore,
        _ journal: Journal,
        until input: AsyncStream<UInt8>,
        withChild: Bool = false
    ) async throws {
        let hold: CredentialUpdate = { _ in
            if withChild {
                let child = Process()
                child.executableURL = URL(filePath: "/bin/sleep")
                child.arguments = ["600"]
                try child.run()
                journal.write("child \(child.processIdentifier)")
            }
            journal.write("holds")
            _ = await input.first { _ in true }
            return .replace(Credential(refreshToken: "late"))
        }
        do {
            try await store.update(hold)
            journal.write("written")
        } catch {
            journal.write("error \(error)")
        }
    }

    /// Loads once under what the arguments forbid, and once more without, and stays: an exchange may be under way.
    private static func load(
        _ store: JournalingStore,
        _ arguments: WorkerArguments,
        _ journal: Journal,
        until input: AsyncStream<UInt8>
    ) async throws {
        let loader = OAuthLoader(endpoint: try arguments.endpoint(journal), store: store)
        if let limit = try? arguments.number("file-limit") { limitFiles(to: UInt(limit)) }
        if let user = try? arguments.number("user") { becomeUser(UInt32(user)) }
        for _ in 1...2 {
            let result: String
            do { result = "token \(try await loader.load(replacing: nil).value)" } catch { result = "error \(error)" }
            // The journal is a file as well.
            limitFiles(to: nil)
            journal.write(result)
        }
        journal.write("done")
        _ = await input.first { _ in true }
    }

    /// Renews the tokens of many users again and again, whatever fails, until it is told that there is peace.
    ///
    /// Then it wants one token for each user, and stays.
    private static func crowd(
        _ arguments: WorkerArguments,
        _ journal: Journal,
        until input: AsyncStream<UInt8>
    ) async throws {
        let exchange = TokenExchange(try arguments.endpoint(journal))
        let loaders = try arguments.crowd().map { OAuthLoader(exchange, store: $0) }
        await withTaskGroup(of: Void.self) { group in
            for loader in loaders {
                group.addTask {
                    var old: AccessToken?
                    while !Task.isCancelled {
                        if let token = try? await loader.load(replacing: old) { old = token }
                        try? await Task.sleep(for: .milliseconds(.random(in: 500...4000)))
                    }
                }
            }
            journal.write("begins")
            _ = await input.first { _ in true }
            group.cancelAll()
        }
        await withTaskGroup(of: Void.self) { group in
            for loader in loaders {
                group.addTask {
                    do { _ = try await loader.load(replacing: nil) } catch { journal.write("error \(error)") }
                }
            }
        }
        journal.write("done")
        _ = await input.first { _ in true }
    }
}
