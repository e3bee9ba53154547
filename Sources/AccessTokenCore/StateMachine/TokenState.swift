/// Where a service is between callers: with or without a token, and with or without a load.
///
/// It is no part of the generic state machine, so that other modules copy it without asking what a waiter is, and
/// indirect, so that a copy is one reference: every waiter looks at it.
@usableFromInline
indirect enum TokenState {
    /// Signed in, without a usable token. Goes to `loading` (a caller came), `cached` (sign-in, late answer),
    /// `signedOut`.
    case idle(replacing: AccessToken?)

    /// Without a usable token; all who come wait. Goes to `cached` (token, sign-in, a late answer kept aside),
    /// `idle` (error, deadline), `signedOut`.
    case loading(Flight)

    /// With a token. Goes to `renewing` (a caller came in the refresh-ahead window), `loading` (expired, and a
    /// caller came), `idle` (rejected), `cached` (sign-in, late answer), `signedOut`.
    case cached(CachedToken)

    /// With a token, while its successor is loaded behind; nobody waits. Goes to `cached` (token, error,
    /// deadline, sign-in), `loading` (rejected, or expired and a caller came), `signedOut`.
    case renewing(CachedToken, Flight)

    /// Nobody is signed in. Goes to `cached` (sign-in).
    case signedOut

    /// What a joiner has to know of the load that all wait for, read in place.
    @inlinable
    var loadingFlight: (id: FlightID, priority: UInt8)? {
        guard case .loading(let flight) = self else { return nil }
        return (flight.id, flight.priority)
    }
}
