package import Foundation

/// A record as stores write it down: JSON with a number for the format, and the version also when no user is signed in.
package struct StoredRecord: Hashable, Sendable {
    /// One more with each replacement and each removal.
    package let version: Int
    /// `nil` after a removal: the version has to go on.
    package let credential: Credential?

    package init(version: Int, credential: Credential?) {
        self.version = version
        self.credential = credential
    }

    /// What a body gets to see.
    package var record: CredentialRecord? {
        credential.map { CredentialRecord(credential: $0, version: version) }
    }

    /// What becomes of a record, which may not exist yet; `nil` if there is nothing to write.
    package static func applying(_ change: CredentialChange, to old: StoredRecord?) -> StoredRecord? {
        switch change {
        case .keep: nil
        case .replace(let credential): StoredRecord(version: (old ?? .first).version + 1, credential: credential)
        case .remove: old?.credential == nil ? nil : removing(old)
        }
    }

    /// What a removal leaves behind.
    ///
    /// The version goes up: a body that has lost its exclusion names the version that it has read, and writes nothing
    /// then.
    package static func removing(_ old: StoredRecord?) -> StoredRecord {
        StoredRecord(version: (old ?? .first).version + 1, credential: nil)
    }

    /// Stands for a record that does not exist yet.
    ///
    /// Its version is the time in seconds. If a store is deleted by hand, the versions of its successor are newer.
    package static var first: StoredRecord {
        StoredRecord(version: max(0, Int(Date.now.timeIntervalSinceReferenceDate)), credential: nil)
    }
}

/// Writes records down and reads them again.
package struct StoredRecordCoder: Sendable {
    /// The JSON as it stands at rest.
    ///
    /// Later versions of the format have a greater number, and members of their own. Format 2 is 1 with a key to which
    /// the tokens are bound (RFC 9449): code of before would leave the key out when it writes the record, and with it
    /// the session.
    private struct Form: Codable {
        var format = 1
        let version: Int
        var credential: Credential?
        var sealed: Data?
    }

    /// What all versions of the format have, whatever else they write.
    private struct Format: Decodable {
        let format: Int
    }

    /// Versions above are none of this package: adding one would end the process.
    private static let versions = 0..<(Int.max / 2)

    /// JSON has no number that is not finite, and a token that never expires may have such a date.
    private static let encoder = {
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy =
            .convertToString(positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return encoder
    }()

    private static let decoder = {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy =
            .convertFromString(positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return decoder
    }()

    private let place: String
    private let seal: CredentialSeal?

    /// Errors name the `place`; without a seal, plaintext is written.
    package init(place: String, seal: CredentialSeal?) {
        self.place = place
        self.seal = seal
    }

    package func data(of record: StoredRecord) throws(CredentialStoreError) -> Data {
        do {
            var form = Form(version: record.version, credential: record.credential)
            if record.credential?.proofKey != nil { form.format = 2 }
            if let seal, let credential = record.credential {
                form.sealed = try seal.seal(Self.encoder.encode(credential))
                form.credential = nil
            }
            return try Self.encoder.encode(form)
        } catch {
            // The error may be one of the app's, which could repeat what it was given.
            throw .unavailable(at: place, "writing the credential down failed with an error of type \(type(of: error))")
        }
    }

    package func record(from data: Data) throws(CredentialStoreError) -> StoredRecord {
        guard !data.isEmpty else { throw .unreadable(at: place, "it is empty") }
        // Foundation's decoding errors are not shown: they can repeat what stands there.
        let form = try? Self.decoder.decode(Form.self, from: data)
        let format = form?.format ?? (try? Self.decoder.decode(Format.self, from: data).format)
        if let format, !(1...2).contains(format) {
            throw .unreadable(at: place, "it has format \(format), which a later version of this package wrote")
        }
        guard let form else { throw .unreadable(at: place, "it is damaged, or was not written by this package") }
        guard Self.versions.contains(form.version) else {
            throw .unreadable(at: place, "its version, \(form.version), is impossible")
        }
        return StoredRecord(version: form.version, credential: try credential(of: form))
    }

    private func credential(of form: Form) throws(CredentialStoreError) -> Credential? {
        guard let sealed = form.sealed else { return form.credential }
        guard let seal else { throw .unreadable(at: place, "it is sealed, and this store was made without a seal") }
        guard let plaintext = try? seal.open(sealed) else {
            throw .unreadable(at: place, "its seal cannot be opened with the key of this process")
        }
        guard let credential = try? Self.decoder.decode(Credential.self, from: plaintext) else {
            throw .unreadable(at: place, "what was sealed is no credential")
        }
        return credential
    }
}
