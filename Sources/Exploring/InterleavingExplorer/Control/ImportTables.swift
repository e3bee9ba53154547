#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The tables through which the modules of this process call functions of other modules.
///
/// A call of the concurrency runtime goes through a slot of the calling module, which the loader fills with the address
/// of the function. Another address in the slot is called instead. Calls inside of the runtime use no such slot.
@available(Executors, *)
enum ImportTables {
    struct Replacement: Sendable {
        /// The name of the function whose calls go elsewhere, as the linker knows it.
        let name: String
        let address: UInt
        /// Whether the calls are those of the runtime, and not of all other modules.
        let isOfRuntime: Bool
    }

    private struct State: Sendable {
        var slots: [(slot: UInt, address: UInt)] = []
        var namesOfCancellation: Set<String> = []
        /// How many modules had been loaded when these were looked for.
        var modules: UInt = 0
    }

    private static let state = Protected(State())

    /// Lets calls of functions go to others, in all modules that are loaded now.
    ///
    /// All tables are read again only where a module has been loaded since: they have tens of thousands of entries.
    ///
    /// - Parameter replacements: the same ones each time.
    /// - Returns: Whether that was done for all calls; it is not where the tables of the system are not known. And the
    ///   functions of the runtime that any module refers to and that have “cancel” in their names.
    static func redirect(_ replacements: [Replacement]) -> (isDone: Bool, namesOfCancellation: Set<String>) {
        #if (canImport(Glibc) || canImport(Musl)) && (arch(x86_64) || arch(arm64))
        state.withLock { state in
            var scan = ImportScan(for: replacements, unlessLoaded: state.modules)
            scan.run()
            if let slots = scan.slots {
                state = State(
                    slots: slots,
                    namesOfCancellation: scan.namesOfCancellation,
                    modules: scan.modules
                )
            }
            // The loader may have been about to fill a slot with what it was for.
            let isWritten = state.slots.map { TaskStatus.redirect($0.slot, to: $0.address) }
            return (scan.knowsRuntime && isWritten.allSatisfy(\.self), state.namesOfCancellation)
        }
        #else
        return (false, [])
        #endif
    }
}

#if (canImport(Glibc) || canImport(Musl)) && (arch(x86_64) || arch(arm64))
/// A search for the slots of some functions, in all modules.
@available(Executors, *)
private struct ImportScan {
    private let replacements: [ImportTables.Replacement]
    /// Where the runtime's own code is.
    private let runtime: UInt
    private let modulesBefore: UInt
    private(set) var modules: UInt = 0
    /// `nil` if no module was loaded since they were looked for.
    private(set) var slots: [(slot: UInt, address: UInt)]?
    /// The names that have “cancel” in them, also those of other modules' functions.
    private var names: Set<String> = []
    private var segmentsOfRuntime: [Range<UInt>] = []

    init(for replacements: [ImportTables.Replacement], unlessLoaded modules: UInt) {
        self.replacements = replacements
        modulesBefore = modules
        runtime = unsafe UInt(bitPattern: RuntimeSymbol.address(of: "swift_task_create"))
    }

    /// A program that is linked statically does not show the functions of the runtime, and calls them directly.
    var knowsRuntime: Bool { runtime != 0 }

    /// Those of the runtime's functions.
    var namesOfCancellation: Set<String> {
        names.filter { name in
            let address = unsafe UInt(bitPattern: RuntimeSymbol.address(of: name))
            return segmentsOfRuntime.contains { $0.contains(address) }
        }
    }

    private typealias Visit =
        @convention(c) (_ module: UnsafeRawPointer?, _ size: Int, _ scan: UnsafeMutableRawPointer?) -> Int32
    private typealias Iterate = @convention(c) (Visit, UnsafeMutableRawPointer?) -> Int32

    mutating func run() {
        guard knowsRuntime, let iterate = unsafe RuntimeSymbol.function("dl_iterate_phdr", as: Iterate.self) else {
            return
        }
        _ = unsafe withUnsafeMutablePointer(to: &self) { scan in
            unsafe iterate(
                { module, _, scan in
                    let scan = unsafe scan?.assumingMemoryBound(to: ImportScan.self)
                    return unsafe scan?.pointee.visit(ModuleHeader(address: UInt(bitPattern: module))) ?? 1
                },
                scan
            )
        }
    }

    /// Returns 0 to go on, and something else to end.
    private mutating func visit(_ module: ModuleHeader) -> Int32 {
        modules = module.loadedSoFar
        guard modules != modulesBefore else { return 1 }
        slots = slots ?? []
        let isRuntime = module.contains(runtime)
        if isRuntime { segmentsOfRuntime = module.segments }
        guard let imports = ModuleImports(of: module) else { return 0 }
        unsafe imports.forEach { slot, name, isForCalls in
            if unsafe strstr(name, "ancel") != nil { names.insert(unsafe String(cString: name)) }
            guard isForCalls else { return }
            let replacement = replacements.first { unsafe $0.isOfRuntime == isRuntime && strcmp($0.name, name) == 0 }
            guard let replacement else { return }
            slots?.append((slot, replacement.address))
        }
        return 0
    }
}

/// What the loader says of a module: the C library's `dl_phdr_info`, which Swift does not see.
@available(Executors, *)
private struct ModuleHeader {
    let address: UInt

    /// Where the module is.
    var base: UInt { TaskStatus.word(address, 0) }
    /// How many modules have been loaded in the process.
    var loadedSoFar: UInt { TaskStatus.word(address, 4) }

    /// What is loaded of it.
    var segments: [Range<UInt>] { segments(ofKind: 1) }

    func contains(_ address: UInt) -> Bool { segments.contains { $0.contains(address) } }

    /// The module's dynamic section.
    var dynamicSection: UInt? { segments(ofKind: 2).first?.lowerBound }

    /// The program headers of a kind: `PT_LOAD` is 1, and `PT_DYNAMIC` 2.
    private func segments(ofKind kind: UInt) -> [Range<UInt>] {
        let first = TaskStatus.word(address, 2)
        let count = TaskStatus.word(address, 3) & 0xffff
        return (0..<count).map { first + 56 * $0 }.filter { TaskStatus.word($0, 0) & 0xffff_ffff == kind }.map {
            let start = base + TaskStatus.word($0, 2)
            return start..<start + TaskStatus.word($0, 5)
        }
    }
}

/// The slots of a module, by the names of the functions that they are for.
@available(Executors, *)
private struct ModuleImports {
    #if arch(x86_64)
    /// The kinds of slots through which functions are called: `R_X86_64_GLOB_DAT` and `R_X86_64_JUMP_SLOT`.
    private static let kinds: ClosedRange<UInt> = 6...7
    #else
    /// The kinds of slots through which functions are called: `R_AARCH64_GLOB_DAT` and `R_AARCH64_JUMP_SLOT`.
    private static let kinds: ClosedRange<UInt> = 1025...1026
    #endif

    /// The tags of entries of a dynamic section.
    private enum Tag {
        static let sizeOfCalls: UInt = 2
        static let names: UInt = 5
        static let symbols: UInt = 6
        static let references: UInt = 7
        static let sizeOfReferences: UInt = 8
        static let calls: UInt = 23
    }

    private let base: UInt
    /// The entries of the module's dynamic section, by their tags.
    private var entries: [UInt: UInt] = [:]

    init?(of module: ModuleHeader) {
        base = module.base
        guard var entry = module.dynamicSection else { return nil }
        while TaskStatus.word(entry, 0) != 0 {
            entries[TaskStatus.word(entry, 0)] = TaskStatus.word(entry, 1)
            entry += 16
        }
    }

    typealias Visit = (_ slot: UInt, _ name: UnsafePointer<CChar>, _ isForCalls: Bool) -> Void

    /// Visits the slots of both tables: for calls, and for other references, such as those of a key path.
    func forEach(_ body: Visit) {
        unsafe visit(Tag.calls, ofSize: Tag.sizeOfCalls, body)
        unsafe visit(Tag.references, ofSize: Tag.sizeOfReferences, body)
    }

    private func visit(_ table: UInt, ofSize size: UInt, _ body: Visit) {
        guard let start = address(of: table), let size = entries[size],
            let symbols = address(of: Tag.symbols), let names = address(of: Tag.names)
        else { return }
        var next = start
        // Not by `stride`, which is dear without the optimizer.
        while next < start + size {
            let relocation = next
            next += 24
            let info = TaskStatus.word(relocation, 1)
            // Most refer to no name at all.
            guard info >> 32 != 0 else { continue }
            let name = names + TaskStatus.word(symbols + (info >> 32) * 24, 0) & 0xffff_ffff
            guard let name = unsafe UnsafePointer<CChar>(bitPattern: name) else { continue }
            let isForCalls = Self.kinds.contains(info & 0xffff_ffff)
            unsafe body(base + TaskStatus.word(relocation, 0), name, isForCalls)
        }
    }

    /// Where a table is: not every loader has added where the module is.
    private func address(of table: UInt) -> UInt? {
        entries[table].map { $0 < base ? $0 + base : $0 }
    }
}

@available(Executors, *)
extension TaskStatus {
    /// Writes into a slot of a table that may be read-only so far, and returns whether that was permitted.
    fileprivate static func redirect(_ slot: UInt, to address: UInt) -> Bool {
        guard word(slot, 0) != address else { return true }
        let size = UInt(getpagesize())
        guard let page = unsafe UnsafeMutableRawPointer(bitPattern: slot & ~(size - 1)),
            unsafe mprotect(page, Int(size), PROT_READ | PROT_WRITE) == 0
        else { return false }
        setWord(slot, 0, address)
        return true
    }
}
#endif
