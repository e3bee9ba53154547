import Dispatch
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// A thread on which steps run while others are held.
///
/// Only one thread of an exploration runs at any time. It hands the right to run to the next one.
final class StepThread: Sendable {
    enum Order: Sendable {
        /// Run this candidate, and what comes after it.
        case run(Driver, Candidate)
        /// Go on behind the point at which you are held, or return from the run.
        case goOn
        /// The exploration is over.
        case end
    }

    private let order = Protected<Order?>(nil)
    private let signal = DispatchSemaphore(value: 0)
    private let system: Protected<SystemThread?>
    /// How many times threads sleep at once when they wait, since the processors were busy lately.
    private static let waitsAsleep = Atomic<Int>(0)

    fileprivate init(_ system: SystemThread? = nil) {
        self.system = Protected(system)
    }

    /// Says that the calling thread is meant.
    fileprivate func bindToCallingThread() {
        system.withLock { $0 = SystemThread() }
    }

    /// Whether the thread sleeps, or waits for anything but a disk; `false` if that cannot be told.
    var isAsleep: Bool {
        system.withLock { $0 }?.isAsleep ?? false
    }

    func hand(_ order: Order) {
        self.order.withLock { $0 = order }
        signal.signal()
    }

    func waitForOrder() -> Order {
        lookForOrder()
        signal.wait()
        return takeOrder()
    }

    /// Waits for the next order, and asks now and then whether there is a reason not to wait any longer.
    ///
    /// - Returns: Whether there was one, and no order has come.
    func waitForOrder(orUntil isEnough: () -> Bool) -> Bool {
        lookForOrder()
        while signal.wait(timeout: .now() + .milliseconds(5)) == .timedOut {
            if isEnough() { return true }
        }
        _ = takeOrder()
        return false
    }

    /// Stays awake for a moment: to wake a thread takes longer than most steps.
    ///
    /// Where others want the processor they get it meanwhile, and keep it for milliseconds. Then it is better to sleep.
    private func lookForOrder() {
        guard Self.waitsAsleep.load(ordering: .relaxed) <= 0 else {
            Self.waitsAsleep.subtract(1, ordering: .relaxed)
            return
        }
        let start = ContinuousClock.now
        for _ in 0..<100 {
            if order.withLock({ $0 != nil }) { break }
            sched_yield()
        }
        if ContinuousClock.now - start > .milliseconds(1) { Self.waitsAsleep.store(1000, ordering: .relaxed) }
    }

    private func takeOrder() -> Order {
        order.withLock { order in
            defer { order = nil }
            return order ?? .end
        }
    }
}

/// A thread as the operating system knows it.
private struct SystemThread: Sendable {
    #if canImport(Darwin)
    private let port: mach_port_t

    init() {
        port = pthread_mach_thread_np(pthread_self())
    }

    var isAsleep: Bool {
        var info = thread_basic_info()
        var count = mach_msg_type_number_t(MemoryLayout<thread_basic_info>.size / MemoryLayout<natural_t>.size)
        let status = unsafe withUnsafeMutablePointer(to: &info) { pointer in
            unsafe pointer.withMemoryRebound(to: integer_t.self, capacity: Int(count)) { words in
                unsafe thread_info(port, thread_flavor_t(THREAD_BASIC_INFO), words, &count)
            }
        }
        return status == KERN_SUCCESS && info.run_state == TH_STATE_WAITING
    }
    #else
    /// Of the thread's file in `/proc`, such as `123/task/456`.
    private let path: String

    init() {
        var buffer = [UInt8](repeating: 0, count: 64)
        let length = unsafe buffer.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return 0 }
            return unsafe readlink("/proc/thread-self", base, bytes.count)
        }
        path = length > 0 ? "/proc/" + String(decoding: buffer.prefix(length), as: UTF8.self) + "/stat" : ""
    }

    var isAsleep: Bool {
        let file = unsafe open(path, O_RDONLY)
        guard file >= 0 else { return false }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 128)
        let length = unsafe buffer.withUnsafeMutableBytes { bytes in
            unsafe read(file, bytes.baseAddress, bytes.count)
        }
        // "456 (the name, which may hold anything) S …"
        guard length > 0, let end = buffer.prefix(length).lastIndex(of: UInt8(ascii: ")")), end + 2 < length else {
            return false
        }
        // Not in a wait for the disk ("D"), which ends by itself.
        return buffer[end + 2] == UInt8(ascii: "S")
    }
    #endif
}

/// The threads of an exploration: its own, and those on which no step is held.
final class StepThreads: Sendable {
    private let idle = Protected<[StepThread]>([])
    private let own = Protected<SystemThread?>(nil)

    /// The calling thread, for one run; it is the same for all runs of an exploration.
    func ofExploration() -> StepThread {
        own.withLock { own in
            // It is dear to find out.
            let system = own ?? SystemThread()
            own = system
            return StepThread(system)
        }
    }

    /// Lets an idle thread, or a new one, run a candidate.
    func run(_ candidate: Candidate, for driver: Driver) {
        let known = idle.withLock { $0.popLast() }
        let thread = known ?? StepThread()
        driver.willRun(on: thread)
        thread.hand(.run(driver, candidate))
        guard known == nil else { return }
        // A serial queue has a thread even if the subjects keep all those of the global queues busy.
        DispatchQueue(label: "InterleavingExplorer step").async {
            thread.bindToCallingThread()
            while case .run(let driver, let candidate) = thread.waitForOrder() {
                ActiveRuns.joining(driver.run) {
                    driver.execute(candidate)
                    driver.loop(on: thread)
                }
            }
        }
    }

    func add(_ thread: StepThread) {
        idle.withLock { $0.append(thread) }
    }

    /// Ends all of them; no step is held any more.
    func end() {
        let threads = idle.withLock { threads in
            defer { threads = [] }
            return threads
        }
        for thread in threads { thread.hand(.end) }
    }
}

/// What the threads of an exploration tell each other while one of them runs.
final class Pulse: Sendable {
    /// Counts stretches: whether anything goes on can be seen from any thread.
    let beats = Atomic<Int>(0)
    /// Whether the running thread waits for something by the explorer's own will.
    let isWaiting = Atomic<Bool>(false)
    /// Whether the caller has been told something else already, so that the search is to end.
    let isAbandoned = Atomic<Bool>(false)

    func waiting<Result>(_ body: () -> Result) -> Result {
        isWaiting.store(true, ordering: .sequentiallyConsistent)
        defer { isWaiting.store(false, ordering: .sequentiallyConsistent) }
        return body()
    }
}

/// The places in a subject's code at which a step must not be held, since it has a lock there that others need.
final class LockedPlaces: Sendable {
    /// `nil` until a step has met a lock: it is dear to ask at each point where it is.
    private let places = Protected<Set<Int>?>(nil)

    /// Whether it counts where a step is.
    var areWatched: Bool {
        places.withLock { $0 != nil }
    }

    /// Grows with all that is found out.
    var knowledge: Int {
        places.withLock { $0.map { 1 + $0.count } ?? 0 }
    }

    /// Adds a place; without one, they are watched from now on.
    func add(_ place: Int?) {
        places.withLock { places in
            places = (places ?? []).union(place.map { [$0] } ?? [])
        }
    }

    func contains(_ place: Int) -> Bool {
        places.withLock { $0?.contains(place) ?? false }
    }

    /// The code that calls this function, by its return addresses.
    @inline(never)
    static func here() -> Int {
        guard let function = unsafe backtrace else { return 0 }
        var addresses = [UInt](repeating: 0, count: 18)
        let count = unsafe addresses.withUnsafeMutableBytes { bytes in
            unsafe function(bytes.baseAddress, Int32(bytes.count / MemoryLayout<UInt>.size))
        }
        var hasher = Hasher()
        for address in addresses.prefix(Int(count)) { hasher.combine(address) }
        return hasher.finalize()
    }

    private typealias Backtrace = @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32

    /// The C library's; without it all points are one place.
    private static let backtrace: Backtrace? = {
        guard let symbol = unsafe RuntimeSymbol.address(of: "backtrace") else { return nil }
        return unsafe unsafeBitCast(symbol, to: Backtrace.self)
    }()
}
