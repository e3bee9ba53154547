/// One way to do what a comparison compares.
struct Contender: Sendable {
    let name: String

    /// Does it once, many times over, and says what each time cost.
    let sample: @Sendable () async throws -> Sample

    init(_ name: String, sample: @escaping @Sendable () async throws -> Sample) {
        self.name = name
        self.sample = sample
    }
}
