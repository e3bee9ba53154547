#if OpenSSL
import CLibcrypto

/// A key pair on the curve P-256, by libcrypto.
@safe final class LibcryptoKey: @unchecked Sendable {
    // Read only after init, and several threads may read one EVP_PKEY.
    private let key: OpaquePointer

    /// Makes a key.
    init() throws(OpenSSLError) {
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else {
            throw OpenSSLError(call: "EVP_PKEY_CTX_new_from_name")
        }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(context) == 1,
            unsafe EVP_PKEY_CTX_set_group_name(context, "P-256") == 1,
            unsafe EVP_PKEY_generate(context, &made) == 1, let made = unsafe made
        else { throw OpenSSLError(call: "EVP_PKEY_generate") }
        unsafe key = made
    }

    /// Reads a key that was written as PKCS #8.
    init(pkcs8: [UInt8]) throws(OpenSSLError) {
        let read: OpaquePointer? = unsafe pkcs8.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return unsafe d2i_AutoPrivateKey(nil, &start, bytes.count)
        }
        guard let read = unsafe read else { throw OpenSSLError(call: "d2i_AutoPrivateKey") }
        unsafe key = read
        // A key of another kind has no point of this length.
        guard try publicPoint().count == 65 else { throw OpenSSLError(call: "d2i_AutoPrivateKey") }
    }

    deinit { unsafe EVP_PKEY_free(key) }

    /// PKCS #8, DER.
    func pkcs8() throws(OpenSSLError) -> [UInt8] {
        guard let info = unsafe EVP_PKEY2PKCS8(key) else { throw OpenSSLError(call: "EVP_PKEY2PKCS8") }
        defer { unsafe PKCS8_PRIV_KEY_INFO_free(info) }
        let count = unsafe i2d_PKCS8_PRIV_KEY_INFO(info, nil)
        guard count > 0 else { throw OpenSSLError(call: "i2d_PKCS8_PRIV_KEY_INFO") }
        return unsafe [UInt8](unsafeUninitializedCapacity: Int(count)) { bytes, written in
            var start = bytes.baseAddress
            written = unsafe max(0, Int(i2d_PKCS8_PRIV_KEY_INFO(info, &start)))
        }
    }

    /// 4, x, y: 65 bytes.
    func publicPoint() throws(OpenSSLError) -> [UInt8] {
        var start: UnsafeMutablePointer<UInt8>?
        let count = unsafe EVP_PKEY_get1_encoded_public_key(key, &start)
        guard count > 0, let start = unsafe start else {
            throw OpenSSLError(call: "EVP_PKEY_get1_encoded_public_key")
        }
        defer { unsafe CRYPTO_free(start, nil, 0) }
        return unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    }

    /// r and s, 64 bytes.
    func signature(of message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        guard let context = unsafe EVP_MD_CTX_new() else { throw OpenSSLError(call: "EVP_MD_CTX_new") }
        defer { unsafe EVP_MD_CTX_free(context) }
        guard unsafe EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1 else {
            throw OpenSSLError(call: "EVP_DigestSignInit")
        }
        // Two numbers of 33 bytes, and three heads of 2.
        let longest = 72
        let der = unsafe [UInt8](unsafeUninitializedCapacity: longest) { bytes, written in
            var count = longest
            let isSigned = unsafe EVP_DigestSign(context, bytes.baseAddress, &count, message, message.count) == 1
            written = isSigned ? count : 0
        }
        guard let raw = Self.raw(der) else { throw OpenSSLError(call: "EVP_DigestSign") }
        return raw
    }

    /// The 64 bytes of JOSE (RFC 7518, section 3.4) of a SEQUENCE of two INTEGERs (RFC 3279, section 2.2.3).
    static func raw(_ der: [UInt8]) -> [UInt8]? {
        guard der.count >= 8, der[0] == 0x30, Int(der[1]) == der.count - 2 else { return nil }
        var (rest, raw) = (der.dropFirst(2), [UInt8]())
        for _ in 0..<2 {
            guard rest.count >= 2, rest.removeFirst() == 0x02, let count = rest.popFirst().map(Int.init),
                count <= rest.count
            else { return nil }
            // A zero stands before a high bit, and short numbers have less than 32 bytes.
            let number = rest.prefix(count).drop { $0 == 0 }
            guard number.count <= 32 else { return nil }
            raw += [UInt8](repeating: 0, count: 32 - number.count) + number
            rest = rest.dropFirst(count)
        }
        return rest.isEmpty ? raw : nil
    }
}
#endif
