#if os(macOS) || os(Linux)
import AccessTokenSynchronization
package import Foundation

/// A program of this package, which was built together with the tests that run.
package func program(named name: String) throws -> URL {
    #if os(macOS)
    let tests = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
    #else
    let tests: URL? = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    #endif
    guard let program = tests?.deletingLastPathComponent().appending(path: name),
        FileManager.default.isExecutableFile(atPath: program.path)
    else { throw ChildProcess.Failure(call: "no \(name) beside the tests", code: ENOENT) }
    return program
}

/// Another process, which this one started, can write to, and can kill.
///
/// `Process` on Linux may crash a program that has many open sockets when it starts another one, as the tests have.
package final class ChildProcess: Sendable {
    package struct Failure: Error {
        let call: String
        let code: Int32
    }

    package let id: Int32
    private let input: FileHandle
    /// Its exit code, once somebody has taken note of its end.
    private let exitCode = Locked<Int32?>(nil)

    /// - Parameters:
    ///   - program: an executable file.
    ///   - arguments: without the program's name.
    package init(_ program: URL, _ arguments: [String]) throws {
        var ends: [Int32] = [0, 0]
        #if os(Linux)
        // Of one child, the others must not inherit the input, or none of them would ever see its end.
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Failure(call: "socketpair", code: errno) }
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        #else
        guard unsafe pipe(&ends) == 0 else { throw Failure(call: "pipe", code: errno) }
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        unsafe posix_spawnattr_init(&attributes)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_CLOEXEC_DEFAULT))
        #endif
        unsafe posix_spawn_file_actions_init(&actions)
        defer {
            unsafe posix_spawn_file_actions_destroy(&actions)
            unsafe posix_spawnattr_destroy(&attributes)
            close(ends[0])
        }
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, 1, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, 2, 2)
        input = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        let words = unsafe ([program.path] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var id: pid_t = 0
        let code = unsafe posix_spawn(&id, program.path, &actions, &attributes, words, environ)
        guard code == 0 else { throw Failure(call: "posix_spawn", code: code) }
        self.id = id
    }

    /// Whether it has not ended yet.
    package var isRunning: Bool { takeNote() == nil }

    /// Its exit code, if it has ended; after a signal, 128 and the signal's number, as in a shell.
    private func takeNote() -> Int32? {
        exitCode.withLock { exitCode in
            var status: Int32 = 0
            if exitCode == nil, unsafe waitpid(id, &status, WNOHANG) == id {
                let signal = status & 0x7F
                exitCode = signal == 0 ? (status >> 8) & 0xFF : 128 + signal
            }
            return exitCode
        }
    }

    /// Waits until it has ended, and gives its exit code; kills it if the task is cancelled.
    package func end() async -> Int32 {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { [self] in
                    var info = unsafe siginfo_t()
                    // Its number stays its own until `takeNote`, which alone knows that it may not be used any more.
                    while unsafe waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
                    continuation.resume(returning: takeNote() ?? -1)
                }
            }
        } onCancel: {
            send(SIGKILL)
        }
    }

    package func write(_ text: String) throws {
        try input.write(contentsOf: Data(text.utf8))
    }

    /// Sends a signal, unless it has ended: its number may be another process's by then.
    package func send(_ signal: Int32) {
        if isRunning { kill(id, signal) }
    }

    /// Stops it, and blocks until it is stopped: after the signal alone, threads of it may run on for a while.
    package func stop() {
        guard isRunning else { return }
        kill(id, SIGSTOP)
        var info = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(id), &info, WSTOPPED | WEXITED | WNOWAIT) != 0, errno == EINTR {}
    }

    deinit {
        guard isRunning else { return }
        kill(id, SIGKILL)
        var status: Int32 = 0
        unsafe waitpid(id, &status, 0)
    }
}
#endif
