#if os(macOS) || os(Linux)
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
    else { throw MissingProgram(name: name) }
    return program
}

/// A program that should have been built with the tests.
package struct MissingProgram: Error {
    let name: String
}
#endif
