/// The help text.
enum Help {
    static var text: String {
        """
        usage: token-tour [--rounds N] [--callers N] [--set-up NAME]... [--mermaid]
               token-tour --server TOKEN-ENDPOINT --resource URL --client-id ID --refresh-token TOKEN
                          [--client-auth METHOD] [--print-refresh-token] [any of the above]

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

        With a server of your own, one caller alone tries the options first. Then our set-ups run one
        after the other on the one credential, and each hands its latest refresh token to the next.

          --server URL            the token endpoint (RFC 6749)
          --resource URL          what the access token is for; it is asked for by GET
          --client-id ID          the client that the refresh token was issued to
          --refresh-token TOKEN   the credential; it is spent if the server rotates. Given again, it
                                  is for the naive set-ups, one each, who lose theirs: a session of
                                  its own, please
          --client-auth METHOD    none (default), basic (RFC 6749), basic-raw (for servers that do
                                  not decode it) or post; the secret is taken from the environment
                                  variable CLIENT_SECRET, and from nowhere else
          --print-refresh-token   print REFRESH_TOKEN=… as the last line, also after a failure; no
                                  secret is printed without it

        set-ups:
        \(setUps)

        In a set-up of one world all callers belong to that world. On the built-in server a session
        that was lost is followed by a new sign-in, one that was kept goes on into the next round. On
        yours, a round begins with the rejection of the present access token, and the first of our
        set-ups that fails is the last one that runs.

        The diagrams show the last round of the first naive set-up and of the last other one, as it
        was recorded: equal steps are one line, where the first of them happened, and ×100 says how
        often. A1 is the first access token of a session, R1 its first refresh token.

        exit status:
          0    no set-up of this package lost a session or left a caller unserved
          1    one did
          64   the arguments make no sense
          69   no connection to your server or resource, or it cannot answer at present
          71   the system gave the built-in server no socket
          74   standard output could not be written
          75   your resource does not serve a token that was issued a moment ago (401, 403, 404, …)
          76   your token endpoint's reply was not understood, or was a redirect
          77   your token endpoint refused: invalid_grant, invalid_client, …
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
