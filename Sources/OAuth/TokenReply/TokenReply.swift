import AccessTokenOAuth
import ConsoleSupport
import Foundation

/// Tells what the client makes of a reply of your server, without your server.
@main
struct TokenReply {
    private static let usage = """
        usage: token-reply [--server NAME | OWN RULES] [--device] [FILE]

        Reads the reply of a token endpoint, head and body as curl -i prints them, from a file or the standard input.
        It gives the reply to an OAuthLoader, and says what the loader does: is there a token, is the user asked,
        what becomes of the credential, and when is the refresh token sent again.

          --server NAME   reads it as that of a known server: \(KnownServer.all.map(\.name).joined(separator: ", "))
          --device        says what the reply means to a device that polls (RFC 8628) instead

        Rules of your own server, to try them before you write its KnownServer:

          --tokens-in MEMBER           the object in which the tokens are
          --type TYPE                  a type of token that means Bearer
          --when MEMBER=VALUE:MEANING  what a reply without a token means, such as --when code=4711:sessionEnded
          --when STATUS:MEANING        the same by the status of HTTP, such as --when 418:denied

        MEANING is one of \(OwnServer.meanings.map(\.name).joined(separator: ", ")).

        exit status:
          0   the reply was tried, whatever it means
          1   the reply could not be tried
          64  the arguments or the reply make no sense
          74  standard output could not be written
        """

    static func main() async {
        keepFromProxy()
        let console = Console(program: "token-reply")
        exit(await console.run { try await run(Array(CommandLine.arguments.dropFirst()), console) }.rawValue)
    }

    static func run(_ list: [String], _ console: Console) async throws -> ExitStatus {
        var (server, isForDevice, file): (KnownServer?, Bool, String?) = (nil, false, nil)
        var own = OwnServer()
        var arguments = Arguments(list)
        while let argument = try arguments.next() {
            switch argument {
            case "--help", "-h":
                try console.print(usage)
                return .good
            case "--device": isForDevice = true
            case "--server":
                let name = try arguments.value()
                server = KnownServer.all.first { $0.name.lowercased() == name.lowercased() }
                if server == nil { throw UsageError("no server is called \(name)") }
            case _ where OwnServer.options.contains(argument):
                let value = try arguments.value()
                guard own.read(argument, value) else { throw UsageError("\(value) makes no sense behind \(argument)") }
            case _ where argument.hasPrefix("-") || file != nil: throw UsageError.unknown(argument)
            default: file = argument
            }
        }
        if let ownServer = own.server {
            guard server == nil else { throw UsageError("a known server has rules already") }
            server = ownServer
        }
        let bytes: Data?
        if let file {
            bytes = FileManager.default.contents(atPath: file)
        } else {
            bytes = FileHandle.standardInput.readDataToEndOfFile()
        }
        guard let bytes else { throw UsageError("the file \(file ?? "") cannot be read") }
        guard let reply = RawReply(bytes) else {
            throw UsageError("this is no reply: the first line must be such as HTTP/1.1 400 Bad Request")
        }
        let trial = ReplyTrial(reply: reply, server: server)
        let lines = isForDevice ? try trial.reportForDevice() : try await trial.report()
        try console.print(lines.joined(separator: "\n"))
        return .good
    }
}
