import Foundation

/// The browser of the user's system, opened by the system's own tool.
enum SystemBrowser {
    static func open(_ url: URL) {
        // No tool takes such a URL for an option, or for a file.
        guard WebOrigin(of: url) != nil else { return }
        #if os(macOS)
        run("/usr/bin/open", [url.absoluteString])
        #elseif os(Linux)
        // Without a screen, `xdg-open` starts a browser for terminals behind the program's back.
        let names = ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"]
        let environment = ProcessInfo.processInfo.environment
        guard names.contains(where: { environment[$0]?.isEmpty == false }) else { return }
        run("xdg-open", [url.absoluteString])
        #endif
    }

    #if os(macOS) || os(Linux)
    /// Starts a program without input and output; what browsers complain of is of no use to the user.
    ///
    /// The program has a process group of its own: Ctrl-C in the terminal ends the tool, and not the user's browser.
    ///
    /// `Process` of Foundation for Linux may crash a program that has many open sockets.
    static func run(_ program: String, _ arguments: [String]) {
        #if os(Linux)
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #else
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #endif
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        for (number, flags) in [(0, O_RDONLY), (1, O_WRONLY), (2, O_WRONLY)] {
            unsafe posix_spawn_file_actions_addopen(&actions, Int32(number), "/dev/null", flags, 0)
        }
        let words = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var id: pid_t = 0
        guard unsafe posix_spawnp(&id, program, &actions, &attributes, words, environ) == 0 else { return }
        let child = id
        // Whoever started a program has to take note of its end.
        Thread.detachNewThread {
            var status: Int32 = 0
            while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
        }
    }
    #endif
}
