import AccessTokenAdapters

/// What happens to a new service, step by step.
///
/// What must come of it is not written down: the specification knows.
///
/// ```swift
/// let script: Script = [.call, .call(then: .signOut), .answer(.token), .call]
/// let violation = await script.play(on: subject)
/// ```
///
/// A script that found a bug is a regression test of one line. The article Scripts shows how to read one.
public struct Script: Hashable, Sendable, ExpressibleByArrayLiteral, CustomStringConvertible {
    /// The service's policy while a script is played.
    public enum Setting: String, Hashable, Sendable, CaseIterable {
        /// No leeway, no refresh-ahead window, no deadline.
        case plain
        /// A leeway of 30 seconds.
        case leeway
        /// A refresh-ahead window of 300 seconds.
        case ahead
        /// A deadline of 10 seconds for each load.
        case deadline
        /// All three.
        case all
    }

    /// The service's policy.
    public var setting: Setting

    /// The token that the service's initialiser is given; needs ``ContractFeatures/initialToken``.
    public var initialToken: Step.NewToken?

    /// What happens, in this order.
    ///
    /// A step that makes no sense when its turn comes is left out.
    public var steps: [Step]

    /// Creates a script for services with this policy.
    public init(_ setting: Setting = .plain, initialToken: Step.NewToken? = nil, _ steps: [Step]) {
        self.setting = setting
        self.initialToken = initialToken
        self.steps = steps
    }

    /// Creates a script for services with the plain policy.
    public init(arrayLiteral steps: Step...) { self.init(.plain, steps) }

    /// The script in a form that can be pasted into code.
    public var description: String {
        let list = "[" + steps.map { "\($0)" }.joined(separator: ", ") + "]"
        let settings = [
            setting == .plain ? nil : ".\(setting)", initialToken.map { "initialToken: .\($0)" },
        ].compactMap(\.self)
        return settings.isEmpty ? list : "Script(\(settings.joined(separator: ", ")), \(list))"
    }
}

extension Script {
    /// Whether a subject with these features can be made so, and can take each step.
    func isPossible(for features: ContractFeatures) -> Bool {
        self == adapted(to: features) && steps.allSatisfy { $0.isPossible(for: features) }
    }

    /// The script with a service that a subject with these features can be: what the subject has not declared is left
    /// out, like a step that makes no sense.
    func adapted(to features: ContractFeatures) -> Script {
        let isSettingPossible = Setting.possible(for: features).contains(setting)
        let token = initialToken.flatMap { token in features.isSuperset(of: token.needsAtStart) ? token : nil }
        return Script(isSettingPossible ? setting : .plain, initialToken: token, steps)
    }
}

extension Script.Setting {
    var policy: AccessTokenPolicy {
        AccessTokenPolicy(
            leeway: self == .leeway || self == .all ? 30 : 0,
            refreshAhead: self == .ahead || self == .all ? 300 : 0,
            loadDeadline: self == .deadline || self == .all ? 10 : nil
        )
    }

    /// The settings that a subject with these features can have, the one with everything twice.
    static func possible(for features: ContractFeatures) -> [Self] {
        var all: [Self] = [.plain]
        if features.isSuperset(of: [.expiry, .leeway]) { all.append(.leeway) }
        if features.isSuperset(of: [.expiry, .refreshAhead]) { all.append(.ahead) }
        if features.contains(.loadDeadline) { all.append(.deadline) }
        if features.isSuperset(of: [.expiry, .leeway, .refreshAhead, .loadDeadline]) { all += [.all, .all] }
        return all
    }
}
