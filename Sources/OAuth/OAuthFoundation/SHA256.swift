#if canImport(CryptoKit)
import CryptoKit
#endif

/// SHA-256 (FIPS 180-4), for the challenge of a code verifier.
///
/// The system's own where there is one. Foundation on Linux has none, and this package depends on no other.
package enum SHA256 {
    package static func digest(_ message: [UInt8]) -> [UInt8] {
        #if canImport(CryptoKit)
        return Array(CryptoKit.SHA256.hash(data: message))
        #else
        return ownDigest(message)
        #endif
    }

    #if !canImport(CryptoKit)
    /// The first 32 bits of the fractions of the cube roots of the first 64 primes.
    private static let constants: [UInt32] = [
        0x428A_2F98, 0x7137_4491, 0xB5C0_FBCF, 0xE9B5_DBA5, 0x3956_C25B, 0x59F1_11F1, 0x923F_82A4, 0xAB1C_5ED5,
        0xD807_AA98, 0x1283_5B01, 0x2431_85BE, 0x550C_7DC3, 0x72BE_5D74, 0x80DE_B1FE, 0x9BDC_06A7, 0xC19B_F174,
        0xE49B_69C1, 0xEFBE_4786, 0x0FC1_9DC6, 0x240C_A1CC, 0x2DE9_2C6F, 0x4A74_84AA, 0x5CB0_A9DC, 0x76F9_88DA,
        0x983E_5152, 0xA831_C66D, 0xB003_27C8, 0xBF59_7FC7, 0xC6E0_0BF3, 0xD5A7_9147, 0x06CA_6351, 0x1429_2967,
        0x27B7_0A85, 0x2E1B_2138, 0x4D2C_6DFC, 0x5338_0D13, 0x650A_7354, 0x766A_0ABB, 0x81C2_C92E, 0x9272_2C85,
        0xA2BF_E8A1, 0xA81A_664B, 0xC24B_8B70, 0xC76C_51A3, 0xD192_E819, 0xD699_0624, 0xF40E_3585, 0x106A_A070,
        0x19A4_C116, 0x1E37_6C08, 0x2748_774C, 0x34B0_BCB5, 0x391C_0CB3, 0x4ED8_AA4A, 0x5B9C_CA4F, 0x682E_6FF3,
        0x748F_82EE, 0x78A5_636F, 0x84C8_7814, 0x8CC7_0208, 0x90BE_FFFA, 0xA450_6CEB, 0xBEF9_A3F7, 0xC671_78F2,
    ]

    private static func ownDigest(_ message: [UInt8]) -> [UInt8] {
        // The first 32 bits of the fractions of the square roots of the first eight primes.
        var hash: [UInt32] = [
            0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19,
        ]
        let padded = padded(message)
        for start in stride(from: 0, to: padded.count, by: 64) { add(padded[start..<(start + 64)], to: &hash) }
        return hash.flatMap(bytes)
    }

    /// A one bit, zeros, and the length in bits: together a multiple of 64 bytes.
    private static func padded(_ message: [UInt8]) -> [UInt8] {
        let zeros = (119 - message.count % 64) % 64
        let bits = UInt64(message.count) * 8
        return message + [0x80] + [UInt8](repeating: 0, count: zeros) + bytes(UInt32(bits >> 32))
            + bytes(UInt32(truncatingIfNeeded: bits))
    }

    private static func add(_ block: ArraySlice<UInt8>, to hash: inout [UInt32]) {
        var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { index in
            block[index..<(index + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        for index in 16..<64 {
            let (old, recent) = (words[index - 15], words[index - 2])
            let first = turned(old, 7) ^ turned(old, 18) ^ old >> 3
            let second = turned(recent, 17) ^ turned(recent, 19) ^ recent >> 10
            words.append(words[index - 16] &+ first &+ words[index - 7] &+ second)
        }
        var state = hash
        for (word, constant) in zip(words, constants) {
            let (a, e) = (state[0], state[4])
            let choice = e & state[5] ^ ~e & state[6]
            let majority = a & state[1] ^ a & state[2] ^ state[1] & state[2]
            let first = state[7] &+ (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) &+ choice &+ constant &+ word
            let second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) &+ majority
            state = [first &+ second] + state[0..<3] + [state[3] &+ first] + state[4..<7]
        }
        for index in hash.indices { hash[index] &+= state[index] }
    }

    private static func turned(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }

    private static func bytes(_ word: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) }
    }
    #endif
}
