/// A choice that runs have come to, as the search knows it: what was tried there, and what is to be tried yet.
///
/// A node lives as long as something below it is to be tried.
@available(Executors, *)
final class SearchNode {
    private let parent: SearchNode?
    private let digit: UInt8
    private let delays: Int
    let index: Int
    private let choice: Choice
    /// One bit for each digit: what is to be tried or was tried, and what was tried.
    private var wanted: UInt64
    private var tried: UInt64 = 0
    private var sleepers: [Asleep] = []
    /// Whether a branch is under way: the next one must know what that has touched.
    private var isBusy = false

    /// A choice that a run has met for the first time, below another one, where the run took a digit.
    init(_ choice: Choice, below parent: SearchNode?, by digit: UInt8) {
        self.choice = choice
        self.parent = parent
        self.digit = digit
        index = (parent?.index ?? -1) + 1
        delays = (parent?.delays ?? 0) + (digit == 0 ? 0 : 1)
        wanted = 1 << choice.digit
        end(choice.digit, choice.footprint)
    }

    /// The digits of a schedule that ends with one of this node.
    func digits(endingWith last: UInt8) -> [UInt8] {
        path.dropFirst().map(\.digit) + [last]
    }

    /// The nodes on the way here, this one included, from the first choice on.
    var path: [SearchNode] {
        var path = [self]
        while let parent = path[path.count - 1].parent { path.append(parent) }
        return path.reversed()
    }

    var fingerprint: UInt64 { choice.fingerprint }

    /// What cannot bring anything new in the place of what has been tried here.
    var asleep: [Asleep] { choice.asleep + sleepers }

    /// Wants everything to be tried that can be chosen.
    func wantAll() {
        guard !choice.isLocked else { return }
        wanted = 1 << UInt64(choice.keys.count) - 1
    }

    /// Wants one of these to be tried; everything, if none of them can be chosen.
    func wantOne(of arrivals: [Int]) {
        var candidate: Int?
        for (digit, key) in choice.keys.enumerated() where arrivals.contains(key.arrival) {
            // What is asleep was tried already, from a state that makes no difference.
            if wanted & 1 << UInt64(digit) != 0 || choice.asleep.contains(where: { $0.arrival == key.arrival }) {
                return
            }
            candidate = candidate ?? digit
        }
        guard let candidate else { return wantAll() }
        if !choice.isLocked { wanted |= 1 << UInt64(candidate) }
    }

    /// The next branch, and the delays on the way to its end; `nil` if there is none now.
    func nextBranch() -> (digit: UInt8, delays: Int)? {
        guard !isBusy else { return nil }
        for digit in choice.keys.indices where (wanted & ~tried) & 1 << UInt64(digit) != 0 {
            let arrival = choice.keys[digit].arrival
            guard !asleep.contains(where: { $0.arrival == arrival }) else { continue }
            isBusy = true
            tried |= 1 << UInt64(digit)
            return (UInt8(digit), delays + (digit == 0 ? 0 : 1))
        }
        return nil
    }

    /// Hears what a segment has touched that was chosen here.
    func end(_ digit: UInt8, _ footprint: Footprint?) {
        isBusy = false
        tried |= 1 << UInt64(digit)
        // What did not come to its end may have been about to touch anything.
        guard let footprint else { return }
        sleepers.append(Asleep(arrival: choice.keys[Int(digit)].arrival, footprint: footprint, known: choice.known))
    }
}

/// What is to be tried, from few delays to many.
@available(Executors, *)
struct Frontier {
    struct Branch {
        let node: SearchNode
        let digit: UInt8
    }

    private var levels: [[Branch]] = []
    private var lowest = 0

    mutating func add(_ node: SearchNode) {
        guard let (digit, delays) = node.nextBranch() else { return }
        while levels.count <= delays { levels.append([]) }
        levels[delays].append(Branch(node: node, digit: digit))
        lowest = min(lowest, delays)
    }

    /// What comes next; `nil` if nothing is left with so few delays.
    mutating func next(atMost maximum: Int) -> Branch? {
        while lowest < levels.count, lowest <= maximum {
            if let branch = levels[lowest].popLast() { return branch }
            lowest += 1
        }
        return nil
    }
}
