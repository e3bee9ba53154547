/// How many requests with proofs may be on their way to one server at a time.
///
/// A server may take each nonce for one proof, and replace it then. Of many requests at once it refuses all but one, and
/// names one nonce to them all, which is again good for one of them. Such a server is asked one thing at a time.
///
/// | the server | how many requests |
/// | --- | --- |
/// | has done none of what follows | any number |
/// | has refused a proof with the nonce that it had just named, while other requests were on their way | one |
/// | has taken 64 proofs since | twice as many; above 64, any number |
///
/// Pure: no lock, no waiters and no clock.
struct ProofWindow: Hashable, Sendable {
    /// What has come of a request that is on its way no more.
    enum End: Hashable, Sendable {
        /// The server has taken the proof, whatever it says of the request.
        case taken
        /// The server has refused the proof, or nobody knows.
        case other
        /// The server has refused the nonce that it had just named, and others may have used that nonce up.
        case contested
    }

    /// After so many proofs, the server is tried with twice as many requests; and so many are as good as any number.
    private static let trial = 64

    /// `nil` for any number.
    private(set) var limit: Int?
    private(set) var underWay = 0 {
        didSet {
            if underWay > 1 { isCrowded = true }
            if underWay == 0 { isCrowded = false }
        }
    }
    /// Whether any two were on their way together since there was none.
    ///
    /// So it says of each request that is on its way whether it was ever one of several: the last nonce that the server
    /// has named to it may have been used up, or replaced, by the reply to another one.
    private(set) var isCrowded = false
    /// Since the limit was set.
    private var taken = 0

    /// Whether a request may be sent now; otherwise it waits in line.
    mutating func enter() -> Bool {
        guard underWay < limit ?? .max else { return false }
        underWay += 1
        return true
    }

    /// A request is on its way no more.
    ///
    /// - Returns: how many of those that wait are on their way now.
    mutating func leave(_ end: End, waiting: Int) -> Int {
        underWay -= 1
        switch end {
        case .contested: (limit, taken) = (1, 0)
        case .taken: taken += 1
        case .other: break
        }
        if let limit, taken >= Self.trial {
            self.limit = limit < Self.trial ? limit * 2 : nil
            taken = 0
        }
        let next = min(waiting, max(0, (limit ?? .max) - underWay))
        underWay += next
        return next
    }
}
