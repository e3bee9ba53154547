/// The help text.
enum Help {
    static var text: String {
        """
        usage: token-tour [--rounds N] [--callers N] [--set-up NAME]... [--mermaid]

        Many callers meet an expired access token at the same moment. The authorization server is a
        real one, on the loopback address: it rotates refresh tokens, and when one of them is used
        twice it revokes the whole session, as the security guide for OAuth has it (RFC 9700). Each
        caller gets a token, asks for a resource, and on a 401 invalidates that token and tries once
        more. The table shows which set-up's callers were served and which user was signed out.

          --rounds N     rounds of each set-up, \(limits(Options.roundLimits)) (default 5)
          --callers N    callers in each round, \(limits(Options.callerLimits)) (default 100)
          --set-up NAME  only this set-up; can be repeated
          --mermaid      print a Markdown page, with the diagrams in Mermaid
          --help         print this text

        set-ups:
        \(setUps)

        In a set-up of one world all callers belong to that world. A session that was lost is
        followed by a new sign-in, one that was kept goes on into the next round.

        The diagrams show the last round of the first naive set-up and of the last other one, as it
        was recorded: equal steps are one line, where the first of them happened, and ×100 says how
        often. A1 is the first access token of a session, R1 its first refresh token.

        exit status:
          0    no set-up of this package lost a session or left a caller unserved
          1    one did
          64   the arguments make no sense
          71   the system gave the server no socket
          74   standard output could not be written
          130  stopped by Ctrl-C
        """
    }

    private static var setUps: String {
        SetUpName.allCases
            .map { name in
                let padding = String(repeating: " ", count: 16 - name.rawValue.count)
                return "  \(name.rawValue)\(padding)\(name.summary)"
            }
            .joined(separator: "\n")
    }

    private static func limits(_ range: ClosedRange<Int>) -> String {
        "\(range.lowerBound) to \(range.upperBound)"
    }
}
