import AccessTokenCore
import Foundation
import Testing

@testable import AccessTokenOAuth

/// A suite about single decisions of a load: no store, no server, and a clock that stands still.
protocol RenewalDeciding {
    /// That of process 1.
    var memory: LoaderMemory { get set }
}

extension RenewalDeciding {
    static var now: Date { Date(timeIntervalSinceReferenceDate: 1_000) }
    static var old: AccessToken { AccessToken(value: "A0") }

    static func record(_ note: SentNote? = nil, _ refreshToken: String? = "RT0") -> CredentialRecord {
        CredentialRecord(credential: Credential(accessToken: old, refreshToken: refreshToken).noting(note), version: 5)
    }

    /// A note of another process, unless something else is said.
    static func note(
        age: TimeInterval = 10,
        count: Int = 1,
        by process: UInt64 = 2,
        hasRival: Bool = false,
        _ outcome: SentNote.Outcome = .awaited
    ) -> SentNote {
        SentNote(
            sender: process,
            number: 1,
            count: count,
            hasRival: hasRival,
            sent: now.addingTimeInterval(-age),
            patience: 120,
            outcome: outcome
        )
    }

    static func machine(hasGrant: Bool = false, takeOverDelay: TimeInterval = 2) -> RenewalStateMachine {
        RenewalStateMachine(
            replacing: old,
            .init(hasGrant: hasGrant, leeway: 30, patience: 120, quietTime: 30, takeOverDelay: takeOverDelay)
        )
    }

    /// What a look at a record comes to, in a word.
    mutating func look(
        _ machine: inout RenewalStateMachine,
        _ record: CredentialRecord?,
        at now: Date = now
    ) -> String {
        switch machine.entered(record, &memory, at: now) {
        case .send(let token): return "send \(token)"
        case .sendGrant: return "send the grant"
        case .leave(.remove): return "remove"
        case .leave(.replace(let credential)):
            guard let note = credential.note else { return "save \(credential.refreshToken ?? "nothing")" }
            return "note \(note.count)\(note.hasRival ? " beside a rival" : "")"
        case .leave(.keep):
            guard case .settled(_, let outcome) = machine.state else { return "keep" }
            switch outcome {
            case .answer(let token): return "adopt \(token.value)"
            case .failure(let error): return "fail: \((error as? OAuthError)?.code ?? "\(type(of: error))")"
            case .again: return "again"
            case .wait: return "wait"
            }
        }
    }
}

/// Records that a decision was another one.
func fail(_ text: String) {
    Issue.record("\(text)")
}
