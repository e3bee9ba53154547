/// How the process ends; the numbers above 1 are those of `sysexits.h` and of shells.
enum ExitStatus: Int32, Sendable {
    case good = 0
    case failed = 1
    case usage = 64
    case noServer = 69
    case noSocket = 71
    case noOutput = 74
    case notServed = 75
    case notUnderstood = 76
    case refused = 77
    case interrupted = 130
}
