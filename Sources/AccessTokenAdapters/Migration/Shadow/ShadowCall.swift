import AccessTokenGCD

/// A call that one of the two services has not answered yet, or both have just answered.
struct ShadowCall {
    struct Answer {
        let result: Result<AccessToken, any Error>
        let moment: Int
    }

    /// Says nothing about the services: it was cancelled, say.
    var isExcused = false
    /// The moments at which the services were given it.
    var asked = PerRole<Int?>(nil)
    /// Only the first answer counts.
    var answers = PerRole<Answer?>(nil)

    var isHalfAnswered: Bool { (answers.serving == nil) != (answers.shadow == nil) }
}
