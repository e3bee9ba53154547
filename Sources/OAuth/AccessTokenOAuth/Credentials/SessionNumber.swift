/// Tells the sessions of a store apart: given at a sign-in, and kept by all renewals.
///
/// A sign-out that the store could not do is made up for later. By then another process may have renewed the session,
/// so that nothing else of it is as it was.
///
/// Two numbers are equal for a comparison, whatever they are: it asks for tokens, and a store need not keep numbers.
struct SessionNumber: Hashable, Sendable, Encodable {
    /// Below this, every language reads a number of JSON as it was written.
    private static let all: Range<UInt64> = 1..<(1 << 53)

    /// `nil` if nobody knows: an earlier version of this package has written the record, or a store of the app's own.
    let value: UInt64?

    init(_ value: UInt64? = nil) { self.value = value }

    static func random() -> SessionNumber { SessionNumber(.random(in: all)) }

    static func == (first: SessionNumber, second: SessionNumber) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}

extension Credential {
    /// The same in a session.
    func inSession(_ session: SessionNumber) -> Credential {
        var credential = self
        credential.session = session
        return credential
    }
}

extension KeyedEncodingContainer {
    /// Writes nothing where nobody knows the number: the `encode(to:)` of a credential, which the compiler makes, calls
    /// this function.
    mutating func encode(_ number: SessionNumber, forKey key: Key) throws {
        try encodeIfPresent(number.value, forKey: key)
    }
}
