#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Writes a text to standard error, and ignores that it cannot.
///
/// A write to a pipe whose reader is gone raises SIGPIPE, which ends the process. A log must not end a process.
func writeToStandardError(_ text: String) {
    let bytes = Array(text.utf8)
    withoutPipeSignal {
        _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

#if canImport(Darwin)
/// Calls `write` so that writing to standard error raises no SIGPIPE.
///
/// Darwin raises the signal for the whole process, so that blocking it for this thread would not help.
private func withoutPipeSignal(_ write: () -> Void) {
    let former = fcntl(STDERR_FILENO, F_GETNOSIGPIPE)
    if former == 0 { _ = fcntl(STDERR_FILENO, F_SETNOSIGPIPE, 1) }
    write()
    if former == 0 { _ = fcntl(STDERR_FILENO, F_SETNOSIGPIPE, 0) }
}
#else
/// Calls `write` so that it raises no SIGPIPE: the signal is blocked for this thread, and taken back if it was raised.
private func withoutPipeSignal(_ write: () -> Void) {
    var pipeSignal = sigset_t()
    var formerMask = sigset_t()
    var pending = sigset_t()
    var noTime = timespec()
    unsafe sigemptyset(&pipeSignal)
    unsafe sigaddset(&pipeSignal, SIGPIPE)
    guard unsafe pthread_sigmask(SIG_BLOCK, &pipeSignal, &formerMask) == 0 else { return }
    unsafe sigpending(&pending)
    // A signal that waited before belongs to somebody else.
    let wasPending = unsafe sigismember(&pending, SIGPIPE) == 1
    write()
    if !wasPending { _ = unsafe sigtimedwait(&pipeSignal, nil, &noTime) }
    _ = unsafe pthread_sigmask(SIG_SETMASK, &formerMask, nil)
}
#endif
