import AccessTokenGCD

/// Where an answer can come from, a load or a sign-in, and the moments at which each service came to know it.
struct ShadowSource {
    /// The load's number; `nil` for a sign-in.
    let load: Int?
    /// The sessions that had begun or ended when it began.
    let session: Int
    /// What the load brought; `nil` while it is running.
    var result: Result<AccessToken, any Error>?

    /// The service asked its loader, or was given the sign-in.
    var wanted = PerRole<Int?>(nil)
    /// The service was given the result; when it takes that in cannot be seen.
    var given = PerRole<Int?>(nil)
    /// The service answered a call with the result, and so had taken it in before.
    var shown = PerRole<Int?>(nil)
    /// The service was told that the token is rejected, when it had shown it.
    var rejected = PerRole<Int?>(nil)
    /// Patience lasts for the service to want the load as well.
    var isWaitedFor = PerRole(false)
    /// The service was told so before it had shown the token, which then may have been too early to count.
    var isRejectedEarly = PerRole(false)

    var value: String? { (try? result?.get())?.value }

    /// The shadow wanted the load when it was over, and counts the life of the token from later on than the other.
    var isLateForShadow: Bool {
        guard let wanted = wanted.shadow, let given = given.serving, (try? result?.get())?.expiration != nil else {
            return false
        }
        return given < wanted
    }

    var mustBeRejectedAgain: Bool { isRejectedEarly.shadow && rejected.shadow == nil }

    mutating func show(by role: ShadowRole, at moment: Int) {
        shown[role] = shown[role] ?? moment
    }

    mutating func reject(by role: ShadowRole, at moment: Int) {
        if shown[role] == nil {
            isRejectedEarly[role] = true
        } else {
            rejected[role] = rejected[role] ?? moment
        }
    }
}
