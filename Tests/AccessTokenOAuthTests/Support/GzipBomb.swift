/// A gzip stream that grows to many times its size: zeros, as runs of 258 (RFC 1951, section 3.2.6).
///
/// Its checksum is missing: nobody should come that far.
enum GzipBomb {
    static func bytes(growingTo count: Int) -> [UInt8] {
        var bytes: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
        var (bits, used) = (UInt64(0), 0)
        func append(_ value: UInt64, _ width: Int) {
            bits |= value << UInt64(used)
            used += width
            while used >= 8 {
                bytes.append(UInt8(truncatingIfNeeded: bits))
                bits >>= 8
                used -= 8
            }
        }
        append(0b011, 3)
        // The literal 0, then as often: length 258, distance 1. Huffman codes come with their first bit first.
        append(0b0000_1100, 8)
        for _ in 0..<(count / 258) { append(0b00000_10100011, 13) }
        append(0, 16)
        return bytes
    }
}
