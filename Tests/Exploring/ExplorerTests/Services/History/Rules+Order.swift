extension Rule {
    /// Linearizability (Herlihy and Wing): one order of the calls explains the answers, and keeps the order of calls
    /// that did not overlap.
    static let order = [
        Rule("S1", "I1", "O1", "O2", "O3", must: "answer as if each call happened at one moment") { history in
            guard let calls = history.calls else { return nil }
            return SequentialService().explains(calls) ? nil : "no order of the calls explains the answers"
        }
    ]
}

/// A call with its answer, and the places in a history where it began and ended.
private struct CallInterval {
    enum Call: Hashable {
        case token(String)
        case tokenRefused
        /// Was answered with the error of a load.
        case tokenFailed
        /// Looks at the token that the service has in the end.
        case look(String?)
        case invalidate(String)
        case signIn(String)
        case signOut
    }

    let call: Call
    let began: Int
    let ended: Int
}

/// What a service does that is called by one caller after the other: the rules of the contract in a few lines.
private struct SequentialService {
    private var isSignedIn = true
    private var current: String?
    private var known: Set<String> = []

    /// Whether a call may be answered so now; if it may, `self` becomes the state after the call.
    private mutating func permits(_ call: CallInterval.Call) -> Bool {
        switch call {
        case .token(let value), .look(let value?):
            guard isSignedIn else { return false }
            if let current { return value == current }
            // A load brings a token that no caller had before.
            current = value
            return known.insert(value).inserted
        case .look(nil):
            return current == nil
        case .tokenRefused:
            return !isSignedIn
        case .tokenFailed:
            return isSignedIn
        case .invalidate(let value):
            if current == value { current = nil }
        case .signIn(let value):
            (isSignedIn, current) = (true, value)
            known.insert(value)
        case .signOut:
            (isSignedIn, current) = (false, nil)
        }
        return true
    }

    /// Tries, one after the other, each call that no unexplained call had ended before.
    func explains(_ calls: [CallInterval]) -> Bool {
        guard let deadline = calls.map(\.ended).min() else { return true }
        return calls.indices.contains { index in
            var next = self
            guard calls[index].began < deadline, next.permits(calls[index].call) else { return false }
            var others = calls
            others.remove(at: index)
            return next.explains(others)
        }
    }
}

extension History {
    /// The calls that have ended, but for those of cancelled callers, which tell nothing of the state; and the last
    /// look.
    ///
    /// `nil` if a deadline has passed: then a late token may replace a newer one without a call.
    fileprivate var calls: [CallInterval]? {
        var calls: [CallInterval] = []
        var asked: [Call: Int] = [:]
        // Of equal calls that overlap, it makes no difference which end belongs to which beginning.
        var begun: [CallInterval.Call: [Int]] = [:]
        for (index, entry) in entries.enumerated() {
            func end(_ call: CallInterval.Call) {
                guard let began = begun[call]?.removeFirst() else { return }
                calls.append(CallInterval(call: call, began: began, ended: index))
            }
            func answer(_ call: Call, as answered: CallInterval.Call) {
                calls.append(CallInterval(call: answered, began: asked[call] ?? index, ended: index))
            }
            switch entry {
            case .asks(let call, _): asked[call] = index
            case .answered(let call, .token(let value)): answer(call, as: .token(value))
            case .answered(let call, .signedOut): answer(call, as: .tokenRefused)
            case .answered(let call, .error): answer(call, as: .tokenFailed)
            case .rejects(let value): begun[.invalidate(value), default: []].append(index)
            case .rejected(let value): end(.invalidate(value))
            case .signsIn(let value): begun[.signIn(value), default: []].append(index)
            case .signedIn(let value): end(.signIn(value))
            case .signsOut: begun[.signOut, default: []].append(index)
            case .signedOut: end(.signOut)
            case .deadlinePasses: return nil
            default: break
            }
        }
        if let finalToken {
            calls.append(CallInterval(call: .look(finalToken), began: entries.count, ended: .max))
        }
        return calls
    }
}
