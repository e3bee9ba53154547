// A subject that traps ends the process, and with it the search. What is left to say is said by a signal handler.
#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Writes the scenario and the schedule to standard error when a step ends the process.
///
/// The handler allocates nothing and takes no lock. Then it leaves the signal to the former handler: the debugger, the
/// backtrace of the Swift runtime, or the system.
@available(Executors, *)
enum CrashHandler {
    private static let signals = [SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGBUS, SIGSEGV]

    /// What handled each signal before, by its number.
    nonisolated(unsafe) private static let former: UnsafeMutablePointer<sigaction> = {
        let former = UnsafeMutablePointer<sigaction>.allocate(capacity: 64)
        unsafe former.initialize(repeating: sigaction(), count: 64)
        return unsafe former
    }()

    private static let isInstalled: Bool = {
        var action = sigaction()
        action.sa_flags = Int32(truncatingIfNeeded: SA_SIGINFO) | Int32(truncatingIfNeeded: SA_ONSTACK)
        unsafe sigemptyset(&action.sa_mask)
        #if canImport(Darwin)
        unsafe action.__sigaction_u.__sa_sigaction = handle
        #elseif canImport(Glibc)
        unsafe action.__sigaction_handler.sa_sigaction = handle
        #elseif canImport(Musl)
        unsafe action.__sa_handler.sa_sigaction = handle
        #else
        unsafe action.sa_sigaction = handle
        #endif
        for signal in signals { unsafe sigaction(signal, &action, former + Int(signal)) }
        return true
    }()

    private typealias Handler =
        @convention(c) (
            _ signal: Int32, UnsafeMutablePointer<siginfo_t>?, _ context: UnsafeMutableRawPointer?
        ) -> Void

    private static let handle: Handler = { signal, info, _ in
        if let run = ActiveRuns.onThisThread {
            write(run.surroundings.record, after: signal)
        } else {
            // On a thread of the subject, or on a dispatch queue: it may belong to any of them.
            RunRecord.forEach { write($0, after: signal) }
        }
        unsafe sigaction(signal, former + Int(signal), nil)
        // What the system has raised comes again as soon as the code goes on.
        if unsafe info?.pointee.si_code ?? 0 <= 0 { raise(signal) }
    }

    private static func write(_ record: RunRecord, after signal: Int32) {
        StandardError.append("\nInterleavingExplorer: the process is ended by ")
        StandardError.append(name(of: signal))
        StandardError.append(", in a run of the scenario “")
        unsafe StandardError.append(record.scenario.bufferPointer)
        StandardError.append("” under the schedule ")
        var digits = unsafe record.schedule.bufferPointer
        while unsafe digits.last == UInt8(ascii: "0") {
            unsafe digits = UnsafeBufferPointer(rebasing: digits.dropLast())
        }
        unsafe StandardError.append(digits)
        // The zeros at the end are left out, but for a schedule of nothing else.
        if unsafe digits.last.map({ $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "_") }) ?? true {
            StandardError.append("0")
        }
        if record.steps.length == 0 {
            StandardError.append(".\nTo see its steps up to this end, replay the schedule.\n")
        } else {
            StandardError.append(".\nThe steps so far, of which the last one has not ended:\n")
            unsafe StandardError.append(record.steps.bufferPointer)
            StandardError.append("\n")
        }
    }

    private static func name(of signal: Int32) -> StaticString {
        switch signal {
        case SIGILL: "SIGILL"
        case SIGTRAP: "SIGTRAP"
        case SIGABRT: "SIGABRT"
        case SIGFPE: "SIGFPE"
        case SIGBUS: "SIGBUS"
        case SIGSEGV: "SIGSEGV"
        default: "a signal"
        }
    }

    /// Runs steps on the calling thread; a crash in them says which schedule it was, also if the stack has overflown.
    static func watching(_ body: () -> Void) {
        guard isInstalled else { return body() }
        let size = 1 << 16
        let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        defer { unsafe memory.deallocate() }
        var own = unsafe stack_t()
        var former = unsafe stack_t()
        unsafe own.ss_sp = memory
        unsafe own.ss_size = size
        unsafe sigaltstack(&own, &former)
        defer { unsafe sigaltstack(&former, nil) }
        body()
    }
}
