import InterleavingExplorer

/// Tells the reader of a diagram what happens at this point of an exhibit, and nothing outside an exploration.
func note(_ text: @autoclosure () -> String) {
    ScenarioRun.current?.note(text())
}

/// Marks something that others can see without entering an actor, and that an invariant can judge.
func effect(_ text: String) {
    ScenarioRun.current?.effect(text)
}
