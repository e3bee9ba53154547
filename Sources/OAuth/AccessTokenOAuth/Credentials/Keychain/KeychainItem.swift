import Foundation

/// The calls of a keychain about one item, with their status codes: the seam behind which the tests have a stand-in.
protocol KeychainItem: Sendable {
    /// The item's data, and the status; both say when there is none.
    func copy() -> (data: Data?, status: Int32)
    func add(_ data: Data) -> Int32
    func update(_ data: Data) -> Int32
    /// The system's words for a status.
    func words(for status: Int32) -> String
}

/// The status codes that this package tells apart.
enum KeychainStatus {
    static let success: Int32 = 0
    static let duplicateItem: Int32 = -25_299
    static let itemNotFound: Int32 = -25_300
    static let interactionNotAllowed: Int32 = -25_308
    static let missingEntitlement: Int32 = -34_018
}

#if canImport(Security)
import Security

/// An item of the data protection keychain.
///
/// It can be read from the first unlock after the device has started: an app works in the background, and is in no
/// backup that another device could restore.
struct SystemKeychainItem: KeychainItem {
    let service: String
    let account: String
    let accessGroup: String?

    private var query: [String: Any] {
        var query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: account,
            kSecUseDataProtectionKeychain as String: true,
            kSecAttrSynchronizable as String: false,
        ]
        if let accessGroup { query[kSecAttrAccessGroup as String] = accessGroup }
        return query
    }

    private func attributes(_ data: Data) -> [String: Any] {
        [
            kSecValueData as String: data,
            kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
    }

    func copy() -> (data: Data?, status: Int32) {
        var result: CFTypeRef?
        let query = query.merging([kSecReturnData as String: true, kSecMatchLimit as String: kSecMatchLimitOne]) { $1 }
        let status = unsafe SecItemCopyMatching(query as CFDictionary, &result)
        return (result as? Data, status)
    }

    func add(_ data: Data) -> Int32 {
        SecItemAdd(query.merging(attributes(data)) { $1 } as CFDictionary, nil)
    }

    func update(_ data: Data) -> Int32 {
        SecItemUpdate(query as CFDictionary, attributes(data) as CFDictionary)
    }

    func words(for status: Int32) -> String {
        SecCopyErrorMessageString(status, nil) as String? ?? "status \(status)"
    }
}
#endif
