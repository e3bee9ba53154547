import Foundation

#if canImport(Runtime) && (os(Linux) || os(macOS))
import Runtime
#endif

/// The addresses from which code was called, innermost first: cheap to take, and made readable when someone reads.
struct CallStack: Sendable {
    /// Enough to get out of this package.
    private static let depth = 12

    private let addresses: [UInt]
    /// A `Backtrace`, where there is one; its type is too new for a stored property.
    private let backtrace: (any Sendable)?

    /// Where the code of the process is, looked up once: that is what makes taking a stack cheap.
    struct Images: Sendable {
        fileprivate let map: (any Sendable)?

        init() {
            #if canImport(Runtime) && (os(Linux) || os(macOS))
            if #available(macOS 26, *) {
                map = ImageMap.capture()
                return
            }
            #endif
            map = nil
        }
    }

    init(_ images: Images) {
        #if canImport(Runtime) && (os(Linux) || os(macOS))
        if #available(macOS 26, *), let map = images.map as? ImageMap,
            let backtrace = try? Backtrace.capture(algorithm: .fast, limit: Self.depth, top: 0, images: map)
        {
            self.backtrace = backtrace
            addresses = backtrace.frames.compactMap { UInt($0.originalProgramCounter) }
            return
        }
        #endif
        backtrace = nil
        addresses = Thread.callStackReturnAddresses.prefix(Self.depth).map(\.uintValue)
    }

    /// The call sites of these stacks, the busiest first.
    static func callSites(_ counts: [CallStack: Int]) -> [CallSite] {
        var sums: [Place: Int] = [:]
        for (place, count) in places(of: counts) { sums[place, default: 0] += count }
        return
            sums
            .map { CallSite(function: $0.function, file: $0.file, line: $0.line, count: $1) }
            .sorted {
                ($1.count, $0.file ?? "", $0.line ?? 0, $0.function) < (
                    $0.count, $1.file ?? "", $1.line ?? 0, $1.function
                )
            }
    }

    private struct Place: Hashable {
        let function: String
        var file: String?
        var line: Int?
    }

    private static func places(of counts: [CallStack: Int]) -> [(Place, Int)] {
        #if canImport(Runtime) && (os(Linux) || os(macOS))
        if #available(macOS 26, *) {
            // Taken anew: a library may have been loaded since.
            let images = ImageMap.capture()
            return counts.map { ($0.placeByBacktrace(images) ?? $0.placeBySymbol, $1) }
        }
        #endif
        return counts.map { ($0.placeBySymbol, $1) }
    }

    #if canImport(Runtime) && (os(Linux) || os(macOS))
    @available(macOS 26, *)
    private func placeByBacktrace(_ images: ImageMap) -> Place? {
        guard let symbolicated = (backtrace as? Backtrace)?.symbolicated(with: images) else { return nil }
        for frame in symbolicated.frames {
            guard let symbol = frame.symbol else { continue }
            if symbol.isSwiftThunk || frame.isSystem || Self.isOwn(symbol.rawName) { continue }
            let location = symbol.sourceLocation
            return Place(function: symbol.name, file: location?.path, line: location?.line)
        }
        // A task that was suspended before has none of its callers on its stack.
        return symbolicated.frames.contains { $0.symbol != nil } ? Place(function: "async code, by token()") : nil
    }
    #endif

    /// The function, by the name that the linker knows it by.
    private var placeBySymbol: Place {
        #if canImport(Darwin)
        for address in addresses {
            var info = Dl_info()
            guard unsafe dladdr(UnsafeRawPointer(bitPattern: address), &info) != 0, let name = unsafe info.dli_sname
            else {
                continue
            }
            let symbol = unsafe String(cString: name)
            if !Self.isOwn(symbol) { return Place(function: symbol) }
        }
        #endif
        return Place(function: addresses.map { "0x" + String($0, radix: 16) }.joined(separator: " < "))
    }

    /// Says whether it is a function of this module, by its mangled name.
    private static func isOwn(_ symbol: String) -> Bool {
        symbol.contains("$s19AccessTokenAdapters")
    }
}

extension CallStack: Hashable {
    static func == (a: CallStack, b: CallStack) -> Bool { a.addresses == b.addresses }
    func hash(into hasher: inout Hasher) { hasher.combine(addresses) }
}
