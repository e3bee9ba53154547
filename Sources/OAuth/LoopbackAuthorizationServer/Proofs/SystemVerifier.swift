import Foundation

#if canImport(CryptoKit)
import CryptoKit
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Checks ES256 signatures (RFC 7518, section 3.4) by what the system has.
enum SystemVerifier {
    /// Whether a signature is good; `nil` if nothing on this machine can say.
    static func verify(_ publicKey: Data, _ message: Data, _ signature: Data) -> Bool? {
        #if canImport(CryptoKit)
        guard let key = try? P256.Signing.PublicKey(x963Representation: publicKey),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        else { return false }
        return key.isValidSignature(signature, for: message)
        #else
        return Libcrypto.shared?.verify(publicKey, message, signature)
        #endif
    }
}

#if !canImport(CryptoKit)
/// The libcrypto of this machine, loaded when it is first needed: to build a test server takes no header of it.
@safe struct Libcrypto: Sendable {
    private typealias Free = @convention(c) (OpaquePointer?) -> Void
    private typealias ReadPublicKey =
        @convention(c) (
            UnsafeMutablePointer<OpaquePointer?>?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, CLong
        ) -> OpaquePointer?
    private typealias Begin =
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<OpaquePointer?>?, OpaquePointer?, OpaquePointer?, OpaquePointer?
        ) -> CInt
    private typealias Verify =
        @convention(c) (OpaquePointer?, UnsafePointer<UInt8>?, Int, UnsafePointer<UInt8>?, Int) -> CInt

    static let shared = Libcrypto()

    /// What is before the point in a SubjectPublicKeyInfo of the curve P-256 (RFC 5480, section 2).
    private static let head: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE,
        0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]

    private let readPublicKey: ReadPublicKey
    private let keyFree: Free
    private let digestNew: @convention(c) () -> OpaquePointer?
    private let digestFree: Free
    private let sha256: @convention(c) () -> OpaquePointer?
    private let begin: Begin
    private let verify: Verify

    private init?() {
        let names = ["libcrypto.so.3", "libcrypto.so.4", "libcrypto.so.1.1"]
        // Its symbols stay out of the way of another OpenSSL in this process.
        guard let library = unsafe names.lazy.compactMap({ unsafe dlopen($0, RTLD_NOW | RTLD_LOCAL) }).first else {
            return nil
        }
        func symbol<Function>(_ name: String, as type: Function.Type) -> Function? {
            // The types above are those of OpenSSL's headers, which have not changed since 1.1.
            unsafe dlsym(library, name).map { unsafe unsafeBitCast($0, to: type) }
        }
        guard let readPublicKey = unsafe symbol("d2i_PUBKEY", as: ReadPublicKey.self),
            let keyFree = unsafe symbol("EVP_PKEY_free", as: Free.self),
            let digestNew = unsafe symbol("EVP_MD_CTX_new", as: (@convention(c) () -> OpaquePointer?).self),
            let digestFree = unsafe symbol("EVP_MD_CTX_free", as: Free.self),
            let sha256 = unsafe symbol("EVP_sha256", as: (@convention(c) () -> OpaquePointer?).self),
            let begin = unsafe symbol("EVP_DigestVerifyInit", as: Begin.self),
            let verify = unsafe symbol("EVP_DigestVerify", as: Verify.self)
        else { return nil }
        unsafe (self.readPublicKey, self.begin, self.verify) = (readPublicKey, begin, verify)
        unsafe (self.keyFree, self.digestNew, self.digestFree, self.sha256) = (keyFree, digestNew, digestFree, sha256)
    }

    func verify(_ publicKey: Data, _ message: Data, _ signature: Data) -> Bool {
        let info = Self.head + publicKey
        let key: OpaquePointer? = unsafe info.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return unsafe readPublicKey(nil, &start, bytes.count)
        }
        guard let key = unsafe key else { return false }
        defer { unsafe keyFree(key) }
        guard let context = unsafe digestNew() else { return false }
        defer { unsafe digestFree(context) }
        guard unsafe begin(context, nil, sha256(), nil, key) == 1 else { return false }
        let (message, signature) = ([UInt8](message), Self.der(signature))
        return unsafe verify(context, signature, signature.count, message, message.count) == 1
    }

    /// A SEQUENCE of two INTEGERs (RFC 3279, section 2.2.3), of r and s.
    private static func der(_ signature: Data) -> [UInt8] {
        let bytes = [UInt8](signature)
        let numbers = [bytes.prefix(bytes.count / 2), bytes.suffix(bytes.count / 2)].flatMap { half -> [UInt8] in
            var number = Array(half.drop { $0 == 0 })
            // A high bit would make the number negative, and a number has one byte at least.
            if number.first.map({ $0 >= 0x80 }) ?? true { number.insert(0, at: 0) }
            return [0x02, UInt8(number.count)] + number
        }
        return [0x30, UInt8(numbers.count)] + numbers
    }
}
#endif
