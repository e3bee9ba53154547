package import Testing

extension Trait where Self == TimeLimitTrait {
    /// Ends a test that hangs, after an hour.
    ///
    /// No test decides by this limit: beside a lot of other work a test may take a hundred times as long as alone.
    package static var endsHangs: TimeLimitTrait { .timeLimit(.minutes(60)) }
}
