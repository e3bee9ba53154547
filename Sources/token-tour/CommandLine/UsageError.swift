/// The arguments make no sense; the text says why, what would, and never a value, which could be a secret.
enum UsageError: Error, Hashable, CustomStringConvertible {
    case unknown(String)
    case noOption(position: Int)
    case missingValue(String)
    case badNumber(String, ClosedRange<Int>)
    case unknownSetUp
    case needsServer(String)
    case missingOption(String)
    case repeated(String)
    case badURL(String)
    case insecureURL(String)
    case unknownClientAuth
    case missingSecret(String)
    case secretArgument
    case sameRefreshToken
    case tooManyRefreshTokens
    case missingRefreshToken(SetUpName)

    var description: String {
        switch self {
        case .unknown(let option): "unknown option: \(option)"
        case .noOption(let position): "argument \(position) is no option, nor the value of one"
        case .missingValue(let option): "\(option) needs a value (if it begins with --, write \(option)=VALUE)"
        case .badNumber(let option, let limits):
            "\(option) takes a number from \(limits.lowerBound) to \(limits.upperBound)"
        case .unknownSetUp:
            "--set-up takes one of \(SetUpName.allCases.map(\.rawValue).joined(separator: ", "))"
        case .needsServer(let option): "\(option) is for a server of your own: give --server too"
        case .missingOption(let option): "a tour of your own server needs \(option)"
        case .repeated(let option): "\(option) can be given once only"
        case .badURL(let option): "\(option) takes an https URL, or an http URL on the loopback address"
        case .insecureURL(let option): "\(option) must be https: on the way there others could read the secrets"
        case .unknownClientAuth: "--client-auth takes one of none, basic, basic-raw, post"
        case .missingSecret(let method):
            "--client-auth \(method) needs the client secret in the environment variable CLIENT_SECRET"
        case .secretArgument:
            "a client secret is taken from the environment variable CLIENT_SECRET only: everybody can see arguments"
        case .sameRefreshToken: "each --refresh-token must be that of another session"
        case .tooManyRefreshTokens: "there are more refresh tokens than set-ups that could use one of their own"
        case .missingRefreshToken(let name): "\(name.rawValue) needs a --refresh-token of its own: it loses it"
        }
    }
}
