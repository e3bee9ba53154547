import Synchronization

/// The scenario of the run that is under way, its schedule so far, and in a replay its steps so far.
///
/// The watchdog reads the schedule when a step does not end. A signal handler reads the record when the process
/// crashes. A record is therefore plain memory, which is never freed: a later exploration uses it again.
@available(Executors, *)
final class RunRecord: Sendable {
    let scenario = SharedText()
    /// The digits, behind the mark of the schedule if it has one.
    let schedule = SharedText()
    /// A line for each step, if they are recorded.
    let steps = SharedText()

    private let isInUse = Atomic(false)
    private let next: RunRecord?

    private static let idle = Protected<[RunRecord]>([])
    /// The record that was made last, which refers to the others.
    private static let last = Atomic<UInt>(0)

    private init(before next: RunRecord?) {
        self.next = next
    }

    /// The record of an exploration that begins now.
    static func take(for scenario: String) -> RunRecord {
        let record = idle.withLock { idle in
            if let known = idle.popLast() { return known }
            let new = RunRecord(before: lastRecord)
            last.store(unsafe UInt(bitPattern: Unmanaged.passRetained(new).toOpaque()), ordering: .releasing)
            return new
        }
        record.scenario.replace(with: scenario)
        record.beginRun(ofKind: "")
        record.isInUse.store(true, ordering: .releasing)
        return record
    }

    func giveBack() {
        isInUse.store(false, ordering: .releasing)
        Self.idle.withLock { $0.append(self) }
    }

    /// Begins a run whose schedule has these marks.
    func beginRun(ofKind marks: String) {
        schedule.replace(with: marks)
        steps.replace(with: "")
    }

    /// Visits the records of all explorations that are under way; safe in a signal handler.
    static func forEach(_ body: (RunRecord) -> Void) {
        var record = lastRecord
        while let present = record {
            if present.isInUse.load(ordering: .acquiring) { body(present) }
            record = present.next
        }
    }

    private static var lastRecord: RunRecord? {
        unsafe UnsafeRawPointer(bitPattern: last.load(ordering: .acquiring)).map {
            unsafe Unmanaged.fromOpaque($0).takeUnretainedValue()
        }
    }
}

/// Text that one thread writes, and any thread or signal handler reads.
@available(Executors, *)
final class SharedText: Sendable {
    private let bytes = Atomic<UInt>(0)
    private let count = Atomic<Int>(0)
    private let capacity = Atomic<Int>(0)

    func append(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            guard let source = bytes.baseAddress else { return }
            let count = count.load(ordering: .relaxed)
            makeRoom(for: count + bytes.count)
            if let start = unsafe start { unsafe (start + count).update(from: source, count: bytes.count) }
            self.count.store(count + bytes.count, ordering: .releasing)
        }
    }

    func append(_ byte: UInt8) {
        let count = count.load(ordering: .relaxed)
        makeRoom(for: count + 1)
        unsafe start?[count] = byte
        self.count.store(count + 1, ordering: .releasing)
    }

    func replace(with text: String) {
        shorten(to: 0)
        append(text)
    }

    /// Takes back what was appended after there were so many bytes.
    func shorten(to count: Int) {
        self.count.store(count, ordering: .releasing)
    }

    var length: Int { count.load(ordering: .acquiring) }

    var text: String { unsafe String(decoding: bufferPointer, as: UTF8.self) }

    var bufferPointer: UnsafeBufferPointer<UInt8> {
        let count = length
        return unsafe UnsafeBufferPointer(start: start, count: count)
    }

    private var start: UnsafeMutablePointer<UInt8>? {
        unsafe UnsafeMutablePointer(bitPattern: bytes.load(ordering: .acquiring))
    }

    /// The former memory stays, since a reader may be at it; all of it together is no more than the new one.
    private func makeRoom(for needed: Int) {
        guard needed > capacity.load(ordering: .relaxed) else { return }
        let count = count.load(ordering: .relaxed)
        let capacity = max(256, 2 * needed)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        if let start = unsafe start { unsafe larger.initialize(from: start, count: count) }
        bytes.store(UInt(bitPattern: larger), ordering: .releasing)
        self.capacity.store(capacity, ordering: .relaxed)
    }
}
