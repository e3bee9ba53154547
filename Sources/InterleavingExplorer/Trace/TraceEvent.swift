/// Something that happened during a step.
public struct TraceEvent: Sendable, Hashable {
    /// What sort of event it is.
    public enum Kind: String, Sendable, Hashable {
        /// An actor that the step had made ready ran at once, as a part of it.
        case enters
        /// The step made another participant ready for the first time.
        case starts
        /// The step made another participant ready again.
        case wakes
        /// The scenario or the subject noted something for the reader.
        case note
        /// The scenario or the subject marked a noticeable effect.
        case effect
        /// A participant came to its end.
        case ends
    }

    /// What sort of event it is.
    public let kind: Kind
    /// Who did it.
    public let participant: String
    /// Whom it concerns, for `enters`, `starts` and `wakes`; the text, for `note` and `effect`; else empty.
    public let text: String
}
