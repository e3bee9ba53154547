/// A place in a subject's code, by the calls on the stack.
@available(Executors, *)
enum StackSite {
    /// The place where the step is, by its own calls that have not returned.
    ///
    /// - Parameter base: an address in the stack frame of what called the step, which depends on the thread and is left
    ///   out.
    @inline(never)
    static func here(above base: UInt) -> Int {
        guard let unwinder = unsafe Unwinder.ofProcess else { return 0 }
        let walk = UnsafeMutablePointer<Walk>.allocate(capacity: 1)
        unsafe walk.initialize(to: Walk(unwinder: unwinder, base: base))
        defer {
            unsafe walk.deinitialize(count: 1)
            unsafe walk.deallocate()
        }
        _ = unsafe unwinder.walk(
            { frame, walk in
                guard let walk = unsafe walk?.assumingMemoryBound(to: Walk.self) else { return 1 }
                return unsafe walk.pointee.visit(frame)
            },
            walk
        )
        // The first two are those of this function and of its caller, which may ask on two lines; the last one called
        // the step.
        return unsafe walk.pointee.addresses.dropFirst(2).dropLast().hashValue
    }
}

/// A walk from the innermost frame of a thread's stack to those of the step's callers.
@available(Executors, *)
@unsafe private struct Walk {
    let unwinder: Unwinder
    let base: UInt
    var addresses: [UInt] = []

    /// Returns 0 to go on, and something else to end.
    mutating func visit(_ frame: OpaquePointer?) -> Int32 {
        // The stack grows downwards.
        guard unsafe unwinder.stackPointer(frame) <= base else { return 1 }
        unsafe addresses.append(unwinder.address(frame))
        return 0
    }
}

/// What unwinds the stack when an exception is thrown, which every process on Apple's platforms and on Linux has.
@available(Executors, *)
@unsafe private struct Unwinder {
    typealias Visit = @convention(c) (_ frame: OpaquePointer?, _ context: UnsafeMutableRawPointer?) -> Int32
    typealias Walk = @convention(c) (Visit, _ context: UnsafeMutableRawPointer?) -> Int32
    typealias Property = @convention(c) (_ frame: OpaquePointer?) -> UInt

    let walk: Walk
    let address: Property
    let stackPointer: Property

    /// `nil` where it is not there; then all points are one site.
    static let ofProcess: Unwinder? = {
        guard
            let walk = unsafe RuntimeSymbol.function("_Unwind_Backtrace", as: Walk.self),
            let address = unsafe RuntimeSymbol.function("_Unwind_GetIP", as: Property.self),
            let stackPointer = unsafe RuntimeSymbol.function("_Unwind_GetCFA", as: Property.self)
        else { return nil }
        return unsafe Unwinder(walk: walk, address: address, stackPointer: stackPointer)
    }()
}
