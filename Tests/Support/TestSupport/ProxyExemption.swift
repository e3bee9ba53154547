#if os(Linux)
import ConsoleSupport

// It runs before the `main` function of the tests, which is not ours: no other thread can read the environment yet.
@section(".init_array")
@used
private let keepsTestsFromProxy: @convention(c) () -> Void = { keepFromProxy() }
#endif
