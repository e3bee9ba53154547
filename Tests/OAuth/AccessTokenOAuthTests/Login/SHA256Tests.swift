import Foundation
import OAuthFoundation
import TestSupport
import Testing

/// `EVERY_SEQUENCE=long` has the longest example, and eight times as many inputs.
@Suite("SHA-256", .takesTurns, .endsHangs)
struct SHA256Tests {
    private static let isLong = ProcessInfo.processInfo.environment["EVERY_SEQUENCE"] == "long"

    private func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { String($0, radix: 16).count == 1 ? "0\(String($0, radix: 16))" : String($0, radix: 16) }.joined()
    }

    /// The examples that NIST publishes for FIPS 180-4; the last is a million letters long.
    private static let examples = [
        ("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        ("a", 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ]

    @Test(arguments: isLong ? examples : examples.dropLast())
    func `of the published examples is the published one`(text: String, count: Int, digest: String) {
        let message = Array(String(repeating: text, count: count).utf8)
        #expect(hexadecimal(SHA256.digest(message)) == digest)
    }

    @Test func `makes the challenge of RFC 7636, appendix B`() {
        let challenge = LoginSecret.challenge(of: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        #expect(challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }

    @Test func `verifiers are of the form of RFC 7636, section 4.1, and never the same`() throws {
        let verifiers = (0..<1000).map { _ in LoginSecret.random() }
        #expect(Set(verifiers).count == 1000)
        let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        #expect(verifiers.allSatisfy { $0.count == 43 && $0.allSatisfy(unreserved.contains) })
        // Of 32 random bytes, some 30 are different ones.
        let text = verifiers[0].replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/") + "="
        #expect(Set(try #require(Data(base64Encoded: text))).count > 16)
    }

    #if os(Linux)
    @Test func `of many inputs is what the system's own tool says`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sha256-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var generator = SeededGenerator(seed: 1)
        // Every length about the ends of two blocks, others, and one whose number of bits has three bytes.
        let others = (0..<(Self.isLong ? 1000 : 5)).map { _ in Int.random(in: 0...300, using: &generator) }
        let lengths = Array(0..<130) + others + [10_000]
        let messages = lengths.map { length in
            (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        }
        for (number, message) in messages.enumerated() {
            try Data(message).write(to: folder.appending(path: "\(number)"))
        }
        let names = folder.appending(path: "names")
        try Data(messages.indices.map { folder.appending(path: "\($0)").path }.joined(separator: "\0").utf8).write(
            to: names
        )
        // Into a file: nobody reads the output before the tool has ended.
        let command = "xargs -0 -a \"$0/names\" sha256sum > \"$0/sums\""
        try await Script.run("/bin/sh", ["-c", command, folder.path])
        let sums = try String(contentsOf: folder.appending(path: "sums"), encoding: .utf8)
        let words = sums.split { " \n".contains($0) }.map(String.init)
        try #require(words.count == 2 * messages.count)
        for (number, message) in messages.enumerated() where words[number * 2] != hexadecimal(SHA256.digest(message)) {
            Issue.record("input \(number) of \(message.count) bytes")
        }
    }
    #endif
}
