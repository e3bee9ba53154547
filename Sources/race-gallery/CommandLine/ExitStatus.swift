/// How the process ends; the numbers above 1 are those of `sysexits.h`.
enum ExitStatus: Int32, Sendable {
    case good = 0
    case unexpected = 1
    case usage = 64
    case noOutput = 74
}
