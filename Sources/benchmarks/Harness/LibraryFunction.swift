#if canImport(Glibc)
import Glibc

/// A function of the C library that its Swift module leaves out.
enum LibraryFunction {
    // Safe as far as the type that the caller gives is the function's own.
    @unsafe
    static func named<Function>(_ name: String, as type: Function.Type) -> Function? {
        guard let address = unsafe dlsym(nil, name) else { return nil }
        return unsafe unsafeBitCast(address, to: type)
    }
}
#endif
