#if canImport(os)
public import os
#endif

/// Ready-made handlers for a service's `onEvent`.
public enum AccessTokenEventLog {
    /// Writes each event as a line to standard error.
    public static func standardError(label: String = "access-token") -> @Sendable (AccessTokenEvent) -> Void {
        { event in writeToStandardError("\(label): \(event)\n") }
    }

    #if canImport(os)
    /// Writes each event to the unified log.
    ///
    /// What happens all the time is logged at the debug level, what happens once a load at the info level, and what
    /// a person should look at as an error. Events hold no secret, so they are public.
    public static func logger(
        _ logger: Logger = Logger(subsystem: "access-token", category: "service")
    ) -> @Sendable (AccessTokenEvent) -> Void {
        { event in
            switch event.kind {
            case .answeredFromCache, .joined, .refusedCancelled, .waiterCancelled:
                logger.debug("\(event.description, privacy: .public)")
            case .loadFailed, .loadTimedOut, .signOutTimedOut, .refusedLoader, .policyCorrected, .ignoredRepeatedAnswer,
                .eventsLost:
                logger.error("\(event.description, privacy: .public)")
            default:
                logger.info("\(event.description, privacy: .public)")
            }
        }
    }
    #endif
}
