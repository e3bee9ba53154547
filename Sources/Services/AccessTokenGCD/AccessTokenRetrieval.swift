/// A caller's hold on its call of ``AccessTokenProviding/retrieveToken(then:)``.
public struct AccessTokenRetrieval: Sendable {
    private let onCancel: (@Sendable () -> Void)?

    /// A retrieval that needs no cancelling any more: its answer is on the way.
    public static let answered = AccessTokenRetrieval(onCancel: nil)

    /// Creates a retrieval.
    ///
    /// `onCancel` cancels the call; `nil` means that there is nothing to cancel.
    public init(onCancel: (@Sendable () -> Void)?) {
        self.onCancel = onCancel
    }

    /// Gives up: the handler is called at once with `CancellationError`, and the load goes on for the others.
    ///
    /// Does nothing if the answer was on its way before (clauses X1 and X2).
    public func cancel() {
        onCancel?()
    }
}
