#if !canImport(CryptoKit)
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A P-256 key by the libcrypto of this machine (OpenSSL 3), which is loaded at run time.
@safe final class LoadedKey: @unchecked Sendable {
    struct Failure: Error, CustomStringConvertible {
        let what: String
        var description: String { "\(what) (the tests' keys need libcrypto of OpenSSL 3 or later)" }
    }

    private typealias Free = @convention(c) (OpaquePointer?) -> Void
    private typealias Make = @convention(c) () -> OpaquePointer?

    // Read only after init, and several threads may read one EVP_PKEY.
    private let key: OpaquePointer

    init() throws {
        typealias NewContext =
            @convention(c) (OpaquePointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> OpaquePointer?
        typealias SetGroup = @convention(c) (OpaquePointer?, UnsafePointer<CChar>?) -> CInt
        typealias Generate = @convention(c) (OpaquePointer?, UnsafeMutablePointer<OpaquePointer?>?) -> CInt
        let context = unsafe try symbol("EVP_PKEY_CTX_new_from_name", as: NewContext.self)(nil, "EC", nil)
        defer { unsafe (try? symbol("EVP_PKEY_CTX_free", as: Free.self))?(context) }
        let begin = unsafe try symbol("EVP_PKEY_keygen_init", as: (@convention(c) (OpaquePointer?) -> CInt).self)
        var made: OpaquePointer?
        guard unsafe begin(context) == 1,
            unsafe try symbol("EVP_PKEY_CTX_set_group_name", as: SetGroup.self)(context, "P-256") == 1,
            unsafe try symbol("EVP_PKEY_generate", as: Generate.self)(context, &made) == 1, let made = unsafe made
        else { throw Failure(what: "no key was made") }
        unsafe key = made
    }

    /// Reads PKCS #8.
    init(stored: Data) throws {
        typealias Read =
            @convention(c) (
                UnsafeMutablePointer<OpaquePointer?>?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, CLong
            ) -> OpaquePointer?
        let read = unsafe try symbol("d2i_AutoPrivateKey", as: Read.self)
        let found: OpaquePointer? = unsafe [UInt8](stored).withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return unsafe read(nil, &start, bytes.count)
        }
        guard let found = unsafe found else { throw Failure(what: "what is stored is no key") }
        unsafe key = found
    }

    deinit { unsafe (try? symbol("EVP_PKEY_free", as: Free.self))?(key) }

    func pkcs8() throws -> [UInt8] {
        typealias Convert = @convention(c) (OpaquePointer?) -> OpaquePointer?
        typealias Write = @convention(c) (OpaquePointer?, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> CInt
        let write = unsafe try symbol("i2d_PKCS8_PRIV_KEY_INFO", as: Write.self)
        let info = unsafe try symbol("EVP_PKEY2PKCS8", as: Convert.self)(key)
        defer { unsafe (try? symbol("PKCS8_PRIV_KEY_INFO_free", as: Free.self))?(info) }
        let count = unsafe write(info, nil)
        guard count > 0 else { throw Failure(what: "no PKCS #8") }
        return unsafe [UInt8](unsafeUninitializedCapacity: Int(count)) { bytes, written in
            var start = bytes.baseAddress
            written = unsafe Int(write(info, &start))
        }
    }

    /// 4, x and y.
    func publicPoint() throws -> [UInt8] {
        typealias Write = @convention(c) (OpaquePointer?, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int
        typealias FreeBytes = @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, CInt) -> Void
        var start: UnsafeMutablePointer<UInt8>?
        let count = unsafe try symbol("EVP_PKEY_get1_encoded_public_key", as: Write.self)(key, &start)
        guard count > 0, let start = unsafe start else { throw Failure(what: "no public key") }
        defer { unsafe (try? symbol("CRYPTO_free", as: FreeBytes.self))?(start, nil, 0) }
        return unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    }

    /// r and s.
    func signature(of message: [UInt8]) throws -> [UInt8] {
        typealias Begin =
            @convention(c) (
                OpaquePointer?, UnsafeMutablePointer<OpaquePointer?>?, OpaquePointer?, OpaquePointer?, OpaquePointer?
            ) -> CInt
        typealias Sign =
            @convention(c) (
                OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int>?, UnsafePointer<UInt8>?, Int
            ) -> CInt
        let context = unsafe try symbol("EVP_MD_CTX_new", as: Make.self)()
        defer { unsafe (try? symbol("EVP_MD_CTX_free", as: Free.self))?(context) }
        let sha256 = unsafe try symbol("EVP_sha256", as: Make.self)()
        let begin = unsafe try symbol("EVP_DigestSignInit", as: Begin.self)
        let sign = unsafe try symbol("EVP_DigestSign", as: Sign.self)
        guard unsafe begin(context, nil, sha256, nil, key) == 1 else { throw Failure(what: "no signature") }
        var der = [UInt8](repeating: 0, count: 72)
        var count = der.count
        guard unsafe sign(context, &der, &count, message, message.count) == 1,
            let raw = Self.raw(Array(der.prefix(count)))
        else { throw Failure(what: "no signature") }
        return raw
    }

    /// The 64 bytes of JOSE of a SEQUENCE of two INTEGERs, whose length is one byte.
    private static func raw(_ der: [UInt8]) -> [UInt8]? {
        guard der.count >= 8, der[0] == 0x30, Int(der[1]) == der.count - 2 else { return nil }
        var (rest, raw) = (der.dropFirst(2), [UInt8]())
        for _ in 0..<2 {
            guard rest.count >= 2, rest.removeFirst() == 0x02, let count = rest.popFirst().map({ Int($0) }),
                count <= rest.count
            else { return nil }
            let number = rest.prefix(count).drop { $0 == 0 }
            guard number.count <= 32 else { return nil }
            raw += [UInt8](repeating: 0, count: 32 - number.count) + number
            rest = rest.dropFirst(count)
        }
        return raw
    }
}

private let library = LoadedLibrary()

/// The library stays loaded until the process ends.
@safe private struct LoadedLibrary: @unchecked Sendable {
    let handle: UnsafeMutableRawPointer?

    init() {
        let names = ["libcrypto.so.3", "libcrypto.so.4"]
        unsafe handle = names.lazy.compactMap({ name in unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) }).first
    }
}

/// A function of libcrypto; its type is that of OpenSSL's header.
private func symbol<Function>(_ name: String, as type: Function.Type) throws -> Function {
    guard let handle = unsafe library.handle, let address = unsafe dlsym(handle, name) else {
        throw LoadedKey.Failure(what: "there is no \(name)")
    }
    return unsafe unsafeBitCast(address, to: type)
}
#endif
