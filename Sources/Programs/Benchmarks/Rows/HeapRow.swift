import AccessTokenAsync
import AccessTokenGCD
import ConsoleSupport
import Foundation

/// The heap that each of many waiters takes while all of them wait for one load.
///
/// These are figures of single runs: a heap does not depend on what else the machine does.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
enum HeapRow {
    static let title = "heap of a waiter"
    private static let counts = [100, 10_000]

    /// The table, for a terminal.
    static func text() -> String {
        let rows: [(String, (Int) -> Double?)] = [
            ("a task that awaits Task.value", AsyncWaiterRow.heapOfSharedTask),
            ("a task at AsyncAccessTokenService", AsyncWaiterRow.heapOfService),
            ("a handler in Sundell's array", { CallbackWaiterRow.heap(CallbackWaiterRow.sundellDesign, $0) }),
            ("a handler at AccessTokenService", { CallbackWaiterRow.heap(CallbackWaiterRow.serviceDesign, $0) }),
        ]
        let cells = rows.map { name, heap in
            [name]
                + counts.map { count in
                    // Once before, so that what is allocated for ever is no waiter's.
                    _ = heap(count)
                    return text(heap(count))
                }
        }
        let waiters = TextTable(header: [title] + counts.map { "\($0) wait" }, rows: cells).text
        let (heldLoader, gatedLoader) = (HeldLoader(), GatedLoader())
        let services = TextTable(
            header: ["heap of a service that nobody calls", ""],
            rows: [
                [
                    "AccessTokenService",
                    text(heapOfServices { AccessTokenService(token: .valid, loader: heldLoader) }),
                ],
                [
                    "AsyncAccessTokenService",
                    text(heapOfServices { AsyncAccessTokenService(token: .valid, loader: gatedLoader) }),
                ],
            ]
        ).text
        return waiters + "\n" + services + "\n"
    }

    /// All services have one loader and one token.
    private static func heapOfServices(_ make: () -> AnyObject) -> Double? {
        let count = 1_000
        var services: [AnyObject] = []
        services.reserveCapacity(count)
        // What is allocated once for all of them is none's.
        services.append(make())
        let before = Heap.bytesInUse
        for _ in 1..<count { services.append(make()) }
        let after = Heap.bytesInUse
        withExtendedLifetime(services) {}
        guard let before, let after else { return nil }
        return (after - before) / Double(count - 1)
    }

    private static func text(_ bytes: Double?) -> String {
        bytes.map { String(format: "%.0f bytes", $0) } ?? "not measured"
    }
}
