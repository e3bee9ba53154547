import Foundation
import TestSupport
import Testing

@Suite("Every sequence of inputs does what the contract says", .takesTurns)
struct EverySequenceTests {
    struct Extent: Sendable, CustomTestStringConvertible {
        var opening: [Input] = []
        let length: Int
        let rareInputs: Int
        let reportsEvents: Bool
        let sequences: Int

        var testDescription: String {
            let start = opening.isEmpty ? "" : "after \(opening.count) given inputs "
            let rare = rareInputs < length ? "\(rareInputs) of them rare" : "rare ones included"
            return "\(start)up to \(length) inputs, \(rare), \(reportsEvents ? "with" : "without") events"
        }
    }

    /// `.ci/deep sequences` sets it: one input more at the end of each sequence.
    private static let isLong = ProcessInfo.processInfo.environment["EVERY_SEQUENCE"] == "long"

    @Test(
        arguments: isLong
            ? [
                Extent(length: 5, rareInputs: 5, reportsEvents: false, sequences: 98_283),
                Extent(length: 6, rareInputs: 6, reportsEvents: true, sequences: 1_271_205),
                Extent(length: 7, rareInputs: 0, reportsEvents: false, sequences: 1_571_759),
            ]
            : [
                Extent(length: 4, rareInputs: 4, reportsEvents: false, sequences: 8092),
                Extent(length: 5, rareInputs: 1, reportsEvents: true, sequences: 58_249),
            ]
    )
    func `from the beginning`(_ extent: Extent) async throws {
        try await check(extent)
    }

    private static let silentLoads: [Input] = [.retrieve, .deadline(load: 1), .retrieve, .deadline(load: 2), .retrieve]
    private static let silentLoadsAhead: [Input] = [
        .signIn, .clock(.nextEdge), .retrieve, .deadline(load: 1), .clock(.nextEdge), .retrieve, .deadline(load: 2),
        .clock(.nextEdge), .retrieve,
    ]

    /// The longest stories of the contract (T2, S3) begin so; nothing shorter makes two late answers meet.
    @Test(
        arguments: [
            Extent(opening: silentLoads, length: 3, rareInputs: 3, reportsEvents: true, sequences: 13_088),
            Extent(opening: silentLoadsAhead, length: 3, rareInputs: 3, reportsEvents: true, sequences: 15_414),
        ]
    )
    func `after two loads that were silent past their deadline, while a third one runs`(_ extent: Extent) async throws {
        try await check(extent)
    }

    /// The next session must not load yet (O9).
    @Test func `after a sign-in, while a load of the former session runs`() async throws {
        let opening: [Input] = [.retrieve, .signInExpired, .retrieve]
        try await check(Extent(opening: opening, length: 3, rareInputs: 3, reportsEvents: true, sequences: 4_517))
    }

    private func check(_ extent: Extent) async throws {
        let checked = try await onThreadOfItsOwn { () -> Result<Int, any Error> in
            var every = EverySequence(
                length: extent.length,
                rareInputs: extent.rareInputs,
                reportsEvents: extent.reportsEvents
            )
            return Result { try every.check(after: extent.opening) }.map { every.checked }
        }.get()
        print("\(extent.testDescription): \(checked) sequences")
        #expect(checked == extent.sequences)
    }
}
