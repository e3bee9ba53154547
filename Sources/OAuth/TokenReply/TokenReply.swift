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

        """

    static func main() async {
        keepFromProxy()
        var (server, isForDevice, file): (KnownServer?, Bool, String?) = (nil, false, nil)
        var own = OwnServer()
        var rest = CommandLine.arguments.dropFirst()
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h": return print(usage, terminator: "")
            case "--device": isForDevice = true
            case "--server":
                let name = rest.popFirst() ?? ""
                server = KnownServer.all.first { $0.name.lowercased() == name.lowercased() }
                if server == nil { fail("no server is called \(name)") }
            case _ where OwnServer.options.contains(argument):
                let value = rest.popFirst() ?? ""
                guard own.read(argument, value) else { fail("\(value) makes no sense behind \(argument)") }
            case _ where argument.hasPrefix("-") || file != nil: fail("\(argument) makes no sense here")
            default: file = argument
            }
        }
        if let ownServer = own.server {
            guard server == nil else { fail("a known server has rules already") }
            server = ownServer
        }
        let bytes: Data?
        if let file {
            bytes = FileManager.default.contents(atPath: file)
        } else {
            bytes = FileHandle.standardInput.readDataToEndOfFile()
        }
        guard let bytes else { fail("there is no file \(file ?? "")") }
        guard let reply = RawReply(bytes) else {
            fail("this is no reply: the first line must be such as HTTP/1.1 400 Bad Request")
        }
        do {
            let trial = ReplyTrial(reply: reply, server: server)
            let lines = isForDevice ? try trial.reportForDevice() : try await trial.report()
            print(lines.joined(separator: "\n"))
        } catch {
            fail("\(error)")
        }
    }

    private static func fail(_ what: String) -> Never {
        FileHandle.standardError.write(Data("token-reply: \(what).\n\n\(usage)".utf8))
        exit(64)
    }
}
