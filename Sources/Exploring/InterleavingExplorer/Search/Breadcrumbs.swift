#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// The schedule that runs now, which can be read from outside: from a file after a crash, by the watchdog when a step hangs.
///
/// The file is mapped into memory, so that every choice is in it as soon as it is made, and stays there when the process
/// does not.
final class Breadcrumbs: Sendable {
    private struct State: Sendable {
        var digits: [UInt8] = []
        var entersActorsLater = false
        var schedules = 0
        weak var run: ScenarioRun?
    }

    private static let capacity = 16_384
    private let state = Protected(State())
    private let file: MappedFile?

    /// Breadcrumbs of a scenario, which go to a file as well if there is one to be written.
    init(_ scenario: String, file path: String?) {
        file = path.flatMap { MappedFile(path: $0, size: Self.capacity, header: "\(scenario)\n") }
    }

    /// Whether they can be read after a crash.
    var hasFile: Bool { file != nil }

    /// Notes that a run begins, after so many schedules.
    func begin(_ run: ScenarioRun, after schedules: Int) {
        state.withLock { state in
            state.digits = []
            state.entersActorsLater = run.entersActorsLater
            state.schedules = schedules
            state.run = run
        }
        file?.clear()
        if run.entersActorsLater { file?.write(Schedule.mark, at: 0) }
    }

    /// Notes a choice.
    func add(_ digit: UInt8) {
        let index = state.withLock { state in
            state.digits.append(digit)
            return state.digits.count - (state.entersActorsLater ? 0 : 1)
        }
        file?.write(String(digit, radix: Schedule.radix).first ?? "?", at: index)
    }

    /// The choices so far, the schedules before, and who runs.
    var present: (schedule: Schedule, schedules: Int, participant: String?) {
        let (schedule, schedules, run) = state.withLock { state in
            (Schedule(digits: state.digits, entersActorsLater: state.entersActorsLater), state.schedules, state.run)
        }
        let participant = run?.board.withLock { $0.name(of: $0.stretch.participant) }
        return (schedule, schedules, participant)
    }
}

/// A file of fixed size: a header, then a schedule, then blanks.
private final class MappedFile: Sendable {
    private let address: UInt
    private let size: Int
    private let start: Int
    private let used = Protected(0)

    init?(path: String, size: Int, header: String) {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard ftruncate(descriptor, off_t(size)) == 0,
            let base = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
            unsafe base != MAP_FAILED
        else { return nil }
        let bytes = Array(header.utf8.prefix(size / 2))
        unsafe base.initializeMemory(as: UInt8.self, repeating: UInt8(ascii: " "), count: size)
        for (index, byte) in bytes.enumerated() {
            unsafe base.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
        }
        address = UInt(bitPattern: base)
        start = bytes.count
        self.size = size
    }

    func write(_ character: Character, at index: Int) {
        guard start + index < size - 1, let base = unsafe UnsafeMutableRawPointer(bitPattern: address) else { return }
        let byte = character.asciiValue ?? UInt8(ascii: "?")
        unsafe base.storeBytes(of: byte, toByteOffset: start + index, as: UInt8.self)
        used.withLock { $0 = max($0, index + 1) }
    }

    func clear() {
        guard let base = unsafe UnsafeMutableRawPointer(bitPattern: address) else { return }
        let count = used.withLock { used in
            defer { used = 0 }
            return used
        }
        for index in start..<start + count {
            unsafe base.storeBytes(of: UInt8(ascii: " "), toByteOffset: index, as: UInt8.self)
        }
    }

    deinit {
        unsafe munmap(UnsafeMutableRawPointer(bitPattern: address), size)
    }
}
