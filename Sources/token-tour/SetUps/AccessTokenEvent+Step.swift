import AccessTokenGCD

extension AccessTokenEvent {
    /// What the diagram shows of a service's own account; the rest is to be seen from outside.
    var step: Step? {
        switch self {
        case .led: .note(.service, "one leads the load")
        case .joined: .note(.service, "joins the load")
        case .invalidated: .note(.service, "drops its token")
        case .ignored(.invalidationOfOtherToken): .note(.service, "ignores old 401")
        case .loadFailed, .loadTimedOut: .note(.service, "load failed")
        default: nil
        }
    }
}
