import AccessTokenCore
import AccessTokenOAuth
import Foundation

extension StoreContract {
    static let keeping = [
        StoreClause(
            ("K1", .critical),
            "hand out the credential that an update has stored, with all of its members",
            intent: "a store that does not do this signs the user out",
            remedy: "encode the whole Credential, which is Codable"
        ) { run in
            let credential = Credential(
                accessToken: AccessToken(value: "s3cret é\"\\\n", expiration: Date(timeIntervalSinceNow: 3_600.25)),
                refreshToken: "s3cret-refresh-of all members/+=",
                scope: "read write",
                obtained: Date(timeIntervalSinceNow: -0.5),
                otherMembers: ["id_token": String(repeating: "ü.", count: 5_000), "empty": ""],
                subject: "user 1"
            )
            for credential in [
                credential, Credential(refreshToken: nil), credential.bound(to: Data("s3cret key".utf8)),
            ] {
                try await run.update(.replace(credential))
                let difference = try await run.load()?.credential.difference(from: credential) ?? "there is no record"
                try run.expect(difference.isEmpty, "load to bring the same credential", observed: difference)
            }
        },

        StoreClause(
            ("K2", .critical),
            "hand out to every other opening what an update has stored, at once",
            intent: "a process that sends a spent refresh token looks like a thief, and the server signs the user out",
            remedy: "write before update returns, and read at each load",
            resembles: "oidc-agent #406: a rotation that did not reach the disk",
            needs: .openings
        ) { run in
            let (first, second) = (run.first, try await run.open())
            _ = try await run.load(second)
            try await run.save("A", by: first)
            try run.expect(try await run.load(second), is: "A", from: "load by \(second.name), which was there before")
            try run.expect(try await run.load(first), is: "A", from: "load by \(first.name)")
            try await run.save("B", by: second)
            try run.expect(try await run.load(first), is: "B", from: "the next load by \(first.name)")
            let third = try await run.open()
            try run.expect(try await run.load(third), is: "B", from: "load by \(third.name), which is new")
            try await run.update(.remove, by: first)
            try run.expect(try await run.load(second), is: nil, from: "load by \(second.name) after a removal")
        },

        StoreClause(
            ("K3", .critical),
            "be empty before the first update and after a removal",
            intent: "a credential that comes back after a sign-out is the field's most common security bug",
            remedy: "return nil from load and from update, and pass nil to the body"
        ) { run in
            for round in ["before the first update", "after a removal"] {
                try run.expect(try await run.load(), is: nil, from: "load \(round)")
                let call = run.start("who looks", .keep)
                try run.expect(try await run.record(of: call), is: nil, from: "update \(round)")
                try run.expect(call.seen.compactMap(\.self).first, is: nil, from: "the call of a body \(round)")
                try await run.save("A")
                try run.expect(try await run.update(.remove), is: nil, from: "update that removes")
            }
            try await run.update(.remove)
        },

        StoreClause(
            ("K4", .serious),
            "return from update the record as it is afterwards",
            intent: "whoever saves a rotated token has to know whether the store took it",
            remedy: "return the record that was written, or that was kept"
        ) { run in
            for name in ["A", "B"] {
                let returned = try await run.save(name)
                try run.expect(returned, is: name, from: "update")
                let kept = try await run.update(.keep)
                let loaded = try await run.load()
                try run.expect(
                    returned?.version == loaded?.version && kept?.version == loaded?.version,
                    "update to return the version that load brings",
                    observed: "\(run.text(returned)), then \(run.text(kept)), then \(run.text(loaded)) by load"
                )
                try run.expect(kept, is: name, from: "update that keeps")
            }
        },

        StoreClause(
            ("K5", .critical),
            "take the credential of a new session after a removal",
            intent: "a user who signs in again would stay signed out",
            remedy: "treat what a removal has left like an empty store"
        ) { run in
            try await run.save("A")
            try await run.update(.remove)
            try await run.save("B")
            try run.expect(try await run.load(), is: "B", from: "load")
        },

        StoreClause(
            ("V1", .critical),
            "count the version up by one with each replacement",
            intent: "by the version a late reply knows whether it may still be saved",
            remedy: "write the version beside the credential, in the same step"
        ) { run in
            var last = try await run.save("A")
            for name in ["B", "B", "C"] {
                let version = (last?.version ?? 0) + 1
                last = try await run.save(name)
                try run.expect(last?.version == version, "version \(version)", observed: run.text(last))
            }
        },

        StoreClause(
            ("V2", .critical),
            "leave the version as it is when a body keeps",
            intent: "a late reply would be thrown away for a change that was none, and with it the rotated token",
            remedy: "write nothing when the body says keep"
        ) { run in
            let before = try await run.save("A")
            try await run.update(.keep)
            let after = try await run.load()
            try run.expect(after?.version == before?.version, run.text(before), observed: run.text(after))
        },

        StoreClause(
            ("V3", .critical),
            "never let the version go back, not even by a removal",
            intent: "a late reply of a former session would take the place of the new session's credential",
            remedy: "keep the version when the credential is removed",
            resembles: "a file that is deleted at sign-out: its versions begin again at 1"
        ) { run in
            let other = try await run.otherOpening()
            let before = try await run.save("A")
            try await run.update(.remove)
            let after = try await run.save("B", by: other)
            let (old, new) = (before?.version ?? 0, after?.version ?? 0)
            try run.expect(new > old, "a version above \(old)", observed: run.text(after))
        },

        StoreClause(
            ("V4", .critical),
            "count the version up with a removal",
            intent:
                "who compares versions would take a removed record for an unchanged one, and bring the session back",
            remedy: "write the removal as a replacement by nothing: the row stays, with the next version",
            resembles: "a row with its version as before: 15 of 15 sessions came back after a sign-out"
        ) { run in
            let before = try await run.save("A")
            try await run.update(.remove)
            let after = try await run.save("B")
            let version = (before?.version ?? 0) + 2
            let observed = "version \(before?.version ?? 0), then \(run.text(after))"
            try run.expect((after?.version ?? 0) >= version, "version \(version) or above", observed: observed)
        },

        StoreClause(
            ("H1", .critical),
            "show no secret in its description, its debug description and its dump",
            intent: "a refresh token in a log is a session for everybody who reads the log",
            remedy: "give the store a description and a mirror of its own"
        ) { run in
            try await run.save("A")
            _ = try await run.load()
            var text = "\(run.first.store)|" + String(reflecting: run.first.store) + "|"
            dump(run.first.store, to: &text)
            try run.expect(!text.contains("s3cret"), "no secret", observed: "a token stands in it")
        },
    ]
}

extension Credential {
    /// In which members it differs: a store may round dates, or look at a clock of its own twice.
    fileprivate func difference(from other: Credential) -> String {
        func areEqual(_ one: Date?, _ other: Date?) -> Bool {
            abs((one ?? .distantPast).timeIntervalSince(other ?? .distantPast)) < 1
        }
        let members = [
            ("accessToken", accessToken?.value == other.accessToken?.value),
            ("expiration", areEqual(accessToken?.expiration, other.accessToken?.expiration)),
            ("refreshToken", refreshToken == other.refreshToken),
            ("scope", scope == other.scope),
            ("obtained", areEqual(obtained, other.obtained)),
            ("otherMembers", otherMembers == other.otherMembers),
            ("subject", subject == other.subject),
            ("key", proofKey == other.proofKey),
        ]
        return members.filter { !$0.1 }.map { "another \($0.0)" }.joined(separator: ", ")
    }
}
