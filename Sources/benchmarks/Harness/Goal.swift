/// What a contender is to reach, beside another one in the same run.
struct Goal: Sendable {
    enum Quantity: String, Sendable, Encodable {
        case time
        case bytes
        /// How many times faster it is: to be at least the limit, where the others are to be at most.
        case speed
        /// Schedules a second, which have no other contender beside them; at least the limit.
        case rate
    }

    let contender: String
    let base: String
    let quantity: Quantity
    let limit: Double

    static func time(of contender: String, to base: String, atMost limit: Double) -> Goal {
        Goal(contender: contender, base: base, quantity: .time, limit: limit)
    }

    static func bytes(of contender: String, to base: String, atMost limit: Double) -> Goal {
        Goal(contender: contender, base: base, quantity: .bytes, limit: limit)
    }

    static func speed(of contender: String, over base: String, atLeast limit: Double) -> Goal {
        Goal(contender: contender, base: base, quantity: .speed, limit: limit)
    }

    static func rate(of contender: String, atLeast limit: Double) -> Goal {
        Goal(contender: contender, base: contender, quantity: .rate, limit: limit)
    }

    func value(_ contender: Sample, _ base: Sample) -> Double? {
        switch quantity {
        case .time: contender.nanoseconds / base.nanoseconds
        case .speed: base.nanoseconds / contender.nanoseconds
        case .rate: 1e9 / contender.nanoseconds
        case .bytes:
            if let bytes = contender.bytes, let baseBytes = base.bytes { bytes / baseBytes } else { nil }
        }
    }

    func isMet(by value: Double) -> Bool {
        switch quantity {
        case .time, .bytes: value <= limit
        case .speed, .rate: value >= limit
        }
    }
}
