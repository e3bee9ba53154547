import AccessTokenAdapters

/// What a clause or a script asks the fixture to be.
package struct ClauseSetting: Sendable {
    let policy: AccessTokenPolicy
    /// What the service's initialiser is given.
    let initialToken: Step.NewToken?

    init(_ setting: Script.Setting, initialToken: Step.NewToken? = nil) {
        policy = setting.policy
        self.initialToken = initialToken
    }
}
