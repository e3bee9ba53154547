/// Where a service is between callers: with or without a token, and with or without a load.
///
/// It is indirect, so that a copy is one reference: every waiter looks at it.
indirect enum TokenState: Sendable {
    /// Signed in, without a usable token. Goes to `loading` (a caller came), `cached` (sign-in, late answer),
    /// `signedOut`.
    case idle(replacing: AccessToken?)

    /// Without a usable token; all who come wait. Goes to `cached` (token, sign-in, a late answer kept aside),
    /// `idle` (error, deadline, sign-in), another `loading` (sign-in that brings no usable token to those who wait),
    /// `signedOut`.
    case loading(Flight)

    /// With a token. Goes to `renewing` (a caller came in the refresh-ahead window), `loading` (expired, and a
    /// caller came), `idle` (rejected), `cached` (sign-in, late answer), `signedOut`.
    case cached(CachedToken)

    /// With a token, while its successor is loaded ahead of the expiration; who comes after that waits. Goes to `cached`
    /// (token, error, deadline, sign-in), `loading` (rejected), `signedOut`.
    case renewing(CachedToken, Flight)

    /// Nobody is signed in. Goes to `cached` or `idle` (sign-in).
    case signedOut

    /// The load that everybody waits for, and its priority, read in place.
    var current: (id: FlightID, priority: UInt8)? {
        guard case .loading(let flight) = self else { return nil }
        return (flight.id, flight.priority)
    }

    /// The current load.
    var flight: Flight? {
        switch self {
        case .loading(let flight), .renewing(_, let flight): flight
        case .idle, .cached, .signedOut: nil
        }
    }
}
