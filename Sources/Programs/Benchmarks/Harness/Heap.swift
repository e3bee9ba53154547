import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// The heap that the process has allocated and not freed.
enum Heap {
    /// `nil` where it is not measured: everywhere but with the GNU C library.
    static var bytesInUse: Double? {
        #if canImport(Glibc)
        guard let report = mallocReport else { return nil }
        // The last lines are about all arenas together.
        func last(_ tag: String, _ type: String) -> Double {
            let start = report.range(of: "<\(tag) type=\"\(type)\"", options: .backwards)?.upperBound
            let size = start.flatMap { report.range(of: "size=\"", range: $0..<report.endIndex)?.upperBound }
            return size.flatMap { Double(report[$0...].prefix { $0.isNumber }) } ?? 0
        }
        return last("system", "current") + last("total", "mmap") - last("total", "fast") - last("total", "rest")
        #else
        return nil
        #endif
    }

    #if canImport(Glibc)
    /// What `malloc_info` writes, which Swift's module of the library leaves out.
    private static var mallocReport: String? {
        typealias MallocInfo = @convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32
        var text: UnsafeMutablePointer<CChar>?
        var length = 0
        guard let address = unsafe dlsym(nil, "malloc_info"), let file = unsafe open_memstream(&text, &length) else {
            return nil
        }
        // Safe: this is the function's own type.
        let mallocInfo = unsafe unsafeBitCast(address, to: MallocInfo.self)
        _ = unsafe mallocInfo(0, file)
        unsafe fclose(file)
        defer { unsafe free(text) }
        return unsafe text.map { unsafe String(cString: $0) }
    }
    #endif
}
