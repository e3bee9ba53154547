/// Which operations have touched something in common that the explorer sees.
///
/// Where an operation shares nothing, its steps seem to be independent of all others: either that is so, or what it
/// shares is not marked. One bit stands for each operation.
@available(Executors, *)
struct Sharing: Sendable {
    enum Object: Sendable {
        case marks
        /// By its ordinal in the run.
        case actor(Int)
        case task(Int)
    }

    private var sharing: UInt64 = 0
    private var touching: UInt64 = 0
    /// Whether code has run that may touch anything: of the scenario, of a block, or of a timer.
    private var hasOpaqueCode = false
    private var marks: UInt64 = 0
    private var actors: [UInt64] = []
    private var tasks: [UInt64] = []

    /// The operations that have touched something which others touch as well.
    var related: UInt64 { hasOpaqueCode ? sharing | touching : sharing }

    /// Notes that an operation has touched an object, or a task of the operation has.
    mutating func note(_ object: Object, by operation: Int) {
        let bit = Self.bit(of: operation)
        touching |= bit
        let users =
            switch object {
            case .marks: Self.add(bit, to: &marks)
            case .actor(let ordinal): Self.add(bit, at: ordinal, of: &actors)
            case .task(let participant): Self.add(bit, at: participant, of: &tasks)
            }
        if users != bit { sharing |= users }
    }

    /// Notes code that may touch anything, of an operation or of nobody.
    mutating func noteAnything(by operation: Int?) {
        if let operation { sharing |= Self.bit(of: operation) } else { hasOpaqueCode = true }
    }

    static func bit(of operation: Int) -> UInt64 { 1 << UInt64(min(operation, 63)) }

    private static func add(_ bit: UInt64, to users: inout UInt64) -> UInt64 {
        users |= bit
        return users
    }

    private static func add(_ bit: UInt64, at index: Int, of users: inout [UInt64]) -> UInt64 {
        while users.count <= index { users.append(0) }
        return add(bit, to: &users[index])
    }
}
