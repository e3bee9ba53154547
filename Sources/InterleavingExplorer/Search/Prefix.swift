/// A schedule to try: the beginning of one that was run, and another last digit.
struct Prefix: Sendable {
    private let base: [UInt8]
    private let count: Int
    private let last: UInt8?
    /// What had happened when the last digit was chosen.
    let fingerprint: UInt64?
    /// What was tried in its place before, or was asleep already.
    let asleep: [Int]

    /// First-in-first-out order, from the beginning.
    init() {
        self.init(base: [], count: 0, last: nil, fingerprint: nil, asleep: [])
    }

    /// The next alternative to what was chosen first at a frame; `nil` if everything else is asleep.
    init?(_ tried: [UInt8], _ frame: Frame, at index: Int) {
        guard let digit = frame.nextAwake else { return nil }
        self.init(
            base: tried,
            count: index,
            last: digit,
            fingerprint: frame.fingerprint,
            asleep: frame.asleep + [frame.arrival]
        )
    }

    private init(base: [UInt8], count: Int, last: UInt8?, fingerprint: UInt64?, asleep: [Int]) {
        self.base = base
        self.count = count
        self.last = last
        self.fingerprint = fingerprint
        self.asleep = asleep
    }

    /// All digits.
    var digits: [UInt8] {
        base.prefix(count) + (last.map { [$0] } ?? [])
    }

    /// The frame of the last digit in a run that followed this.
    func last(of frames: [Frame]) -> Frame? {
        last != nil && frames.count > count ? frames[count] : nil
    }

    /// The next alternative at the same place, after this one was run.
    func sibling(after frame: Frame, in tried: [UInt8]) -> Prefix? {
        guard let digit = frame.nextAwake(not: asleep) else { return nil }
        return Prefix(
            base: tried,
            count: count,
            last: digit,
            fingerprint: fingerprint,
            asleep: frame.visibility == .noticeable ? asleep + [frame.arrival] : asleep
        )
    }
}

/// A moment of a run at which more than one thing could happen.
struct Frame: Sendable {
    let digit: UInt8
    /// All that could be chosen.
    let arrivals: [Int]
    /// What of that is known to bring nothing new.
    let asleep: [Int]
    /// What others could notice of what was chosen.
    var visibility = Visibility.noticeable
    /// Stands for everything that had happened before, and for what could have been chosen.
    let fingerprint: UInt64

    /// The one that was chosen.
    var arrival: Int {
        arrivals[Int(digit)]
    }

    /// The next digit that stands for something that is not asleep.
    var nextAwake: UInt8? {
        nextAwake(not: asleep)
    }

    func nextAwake(not asleep: [Int]) -> UInt8? {
        (digit + 1..<UInt8(max(arrivals.count, Int(digit) + 1)))
            .first { !asleep.contains(arrivals[Int($0)]) }
    }
}
