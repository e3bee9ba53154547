package import AccessTokenCore

extension EnclosingLoads {
    @TaskLocal private static var ofTask: [LoadID] = []

    /// Lets ``current`` tell the loads that a task runs in; to be asked for before the first of them.
    package static let areReadFromTask: Void = readTask { ofTask }

    /// Runs `body`, and every task that it starts, inside these loads.
    package nonisolated(nonsending) static func with<Result>(
        _ loads: [LoadID],
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        _ = areReadFromTask
        return try await $ofTask.withValue(loads, operation: body)
    }
}
