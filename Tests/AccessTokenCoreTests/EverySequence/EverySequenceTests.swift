import Testing

@Suite("Every sequence of inputs does what the contract says")
struct EverySequenceTests {
    struct Extent: Sendable, CustomTestStringConvertible {
        var opening: [Input] = []
        let length: Int
        let rareInputs: Int
        let reportsEvents: Bool
        let sequences: Int

        var testDescription: String {
            let start = opening.isEmpty ? "" : "after \(opening.count) given inputs "
            let rare = rareInputs == 0 ? "no rare ones" : "rare ones included"
            return "\(start)up to \(length) inputs, \(rare), \(reportsEvents ? "with" : "without") events"
        }
    }

    @Test(
        "from the beginning",
        arguments: [
            Extent(length: 5, rareInputs: 5, reportsEvents: false, sequences: 34_918),
            Extent(length: 6, rareInputs: 6, reportsEvents: true, sequences: 383_846),
            Extent(length: 8, rareInputs: 0, reportsEvents: false, sequences: 272_808),
        ]
    )
    func fromTheBeginning(_ extent: Extent) throws {
        try check(extent)
    }

    /// The longest stories of the contract (T2, S3) begin so; nothing shorter makes two late answers meet.
    @Test(
        "after two loads that were silent past their deadline, while a third one runs",
        arguments: [
            Extent(
                opening: [.retrieve, .deadline(load: 1), .retrieve, .deadline(load: 2), .retrieve],
                length: 3,
                rareInputs: 3,
                reportsEvents: true,
                sequences: 8830
            ),
            Extent(
                opening: [
                    .signIn, .clock(.nextEdge), .retrieve, .deadline(load: 1), .retrieve, .deadline(load: 2), .retrieve,
                ],
                length: 3,
                rareInputs: 3,
                reportsEvents: true,
                sequences: 12_431
            ),
        ]
    )
    func afterSilentLoads(_ extent: Extent) throws {
        try check(extent)
    }

    private func check(_ extent: Extent) throws {
        var every = EverySequence(
            length: extent.length,
            rareInputs: extent.rareInputs,
            reportsEvents: extent.reportsEvents
        )
        try every.check(after: extent.opening)
        print("\(extent.testDescription): \(every.checked) sequences")
        #expect(every.checked == extent.sequences)
    }
}
