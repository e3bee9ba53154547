// What is asked of the operating system, in one place, since its names differ.
#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// A thread as the operating system knows it.
@available(Executors, *)
struct SystemThread: Sendable {
    struct Activity: Sendable {
        /// Whether the thread sleeps and waits for anything but a disk.
        let isAsleep: Bool
        /// How long the thread has run so far, to a hundredth of a second.
        let processorTime: Duration
    }

    static let processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

    #if canImport(Darwin)
    private let port: mach_port_t

    init() {
        port = pthread_mach_thread_np(pthread_self())
    }

    /// `nil` if it cannot be told.
    var activity: Activity? {
        var info = thread_basic_info()
        var count = mach_msg_type_number_t(MemoryLayout<thread_basic_info>.size / MemoryLayout<natural_t>.size)
        let status = unsafe withUnsafeMutablePointer(to: &info) { pointer in
            unsafe pointer.withMemoryRebound(to: integer_t.self, capacity: Int(count)) { words in
                unsafe thread_info(port, thread_flavor_t(THREAD_BASIC_INFO), words, &count)
            }
        }
        guard status == KERN_SUCCESS else { return nil }
        let seconds = Int64(info.user_time.seconds) + Int64(info.system_time.seconds)
        let microseconds = Int64(info.user_time.microseconds) + Int64(info.system_time.microseconds)
        return Activity(
            isAsleep: info.run_state == TH_STATE_WAITING,
            processorTime: .seconds(seconds) + .microseconds(microseconds)
        )
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

    /// `nil` if it cannot be told.
    var activity: Activity? {
        let file = unsafe open(path, O_RDONLY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 512)
        let length = unsafe buffer.withUnsafeMutableBytes { bytes in
            unsafe read(file, bytes.baseAddress, bytes.count)
        }
        // "456 (the name, which may hold anything) S …", then ten numbers, and the ticks in user and in system mode.
        guard length > 0, let name = buffer.prefix(length).lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = buffer[..<length].dropFirst(name + 1).split(separator: UInt8(ascii: " "))
            .map { String(decoding: $0, as: UTF8.self) }
        guard fields.count > 12, let user = Int(fields[11]), let system = Int(fields[12]) else { return nil }
        // Not in a wait for the disk ("D"), which ends by itself.
        return Activity(isAsleep: fields[0] == "S", processorTime: .milliseconds(10) * (user + system))
    }
    #endif
}

/// A lock that one thread has at a time.
@available(Executors, *)
@safe struct SystemLock: ~Copyable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe pthread_mutex_init(mutex, nil)
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    func lock() { unsafe pthread_mutex_lock(mutex) }
    func unlock() { unsafe pthread_mutex_unlock(mutex) }
}

/// A pointer that each thread has for itself.
@available(Executors, *)
enum ThreadPointer {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let status = unsafe pthread_key_create(&key, nil)
        precondition(status == 0, "The process has no thread-specific key left")
        return key
    }()

    static var value: UnsafeMutableRawPointer? {
        get { unsafe pthread_getspecific(key) }
        set { unsafe pthread_setspecific(key, newValue) }
    }
}

/// What the process was given by whoever started it.
enum Environment {
    static func value(of variable: String) -> String? {
        unsafe getenv(variable).map { unsafe String(cString: $0) }
    }
}

/// Says what no report can say any more.
@available(Executors, *)
enum StandardError {
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    static func append(_ text: String) {
        var text = text
        text.withUTF8 { unsafe append($0) }
    }

    /// The same of text that is there already, as a signal handler needs it.
    static func append(_ text: StaticString) {
        unsafe append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    static func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        _ = unsafe write(STDERR_FILENO, bytes.baseAddress, bytes.count)
    }
}

/// Finds what the concurrency runtime exports but does not declare.
@available(Executors, *)
enum RuntimeSymbol {
    /// The address of a function or variable of the running process.
    ///
    /// **Failure.** `nil` where there is no such symbol, for instance in a fully static executable.
    static func address(of name: String) -> UnsafeMutableRawPointer? {
        unsafe dlsym(dlopen(nil, RTLD_NOW), name)
    }

    /// A function of the running process, as one of the type that it is known to have.
    static func function<Function>(_ name: String, as type: Function.Type = Function.self) -> Function? {
        guard let symbol = unsafe address(of: name) else { return nil }
        return unsafe unsafeBitCast(symbol, to: type)
    }
}
