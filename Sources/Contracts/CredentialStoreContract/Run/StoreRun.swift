import AccessTokenCore
import AccessTokenOAuth
import AccessTokenSynchronization
package import ContractHarness
package import Foundation

/// One run of one clause: a new place, its openings, and the words in which scenarios are written.
///
/// Code of the subject runs on lanes, never where the scenario runs.
package final class StoreRun: ScenarioRun {
    /// An opening of the store, with the name that traces give it.
    struct Opening: Sendable {
        let name: String
        let store: any CredentialStore
    }

    private struct State {
        var openings: [Opening] = []
        var calls: [UpdateCall] = []
        var inside: [String] = []
        var overlap: String?
    }

    /// Longer than any run: the seconds of a run are longer than the store's on a busy machine (``TimeLimit``), and a
    /// wait that ends by itself would pass for a late answer.
    package static let usualSetting: TimeInterval = 3600

    package let context: RunContext<StoreSubject>
    let fixture: StoreFixture
    private let state = Locked(State())

    package init(_ context: RunContext<StoreSubject>, _ waitLimit: TimeInterval) {
        self.context = context
        let name = "contract" + UUID().uuidString.lowercased().filter { $0 != "-" }
        fixture = StoreFixture(
            name: name,
            folder: FileManager.default.temporaryDirectory.appendingPathComponent(name),
            waitLimit: waitLimit
        )
    }

    package func begin() async throws {
        try check(subject.promises, areAmong: StoreContract.conventions)
        _ = try await open()
    }

    /// Lets go of everybody who is inside, and removes what a store has left on disk.
    package func end() {
        let calls = state.withLock { $0.calls }
        for call in calls { call.letGo() }
        for call in calls where call.result == nil { Lane("cancel").run { call.cancel() } }
        try? FileManager.default.removeItem(at: fixture.folder)
    }

    // MARK: Openings

    /// The one that is there when a scenario begins.
    var first: Opening { state.withLock { $0.openings[0] } }

    func open() async throws -> Opening {
        let name = "opening \(state.withLock { $0.openings.count } + 1)"
        let store = try await value(of: "\(name) of the store", on: Lane("open")) { [self] in
            try await subject.open(fixture)
        }
        let opening = Opening(name: name, store: store)
        state.withLock { $0.openings.append(opening) }
        return opening
    }

    func load(_ opening: Opening? = nil) async throws -> CredentialRecord? {
        let opening = opening ?? first
        let record = try await value(of: "load by \(opening.name)", on: Lane("load")) { try await opening.store.load() }
        log.happened("load by \(opening.name) brings \(text(record))")
        return record
    }

    /// Takes the exclusion away from whoever is inside.
    func loseExclusion() async throws {
        try await value(of: "the loss of the exclusion", on: Lane("loss")) { [self] in
            try await subject.loseExclusion?(fixture)
        }
        log.happened("whoever is inside loses the exclusion")
    }

    // MARK: Updates

    /// Starts an update, which does what the change says as soon as it is inside, or when the scenario lets it.
    ///
    /// - Parameters:
    ///   - change: `nil` throws a ``BodyError``.
    ///   - pool: where the call runs together with others, and its body is not held; `nil` gives it a lane of its own.
    func start(
        _ name: String,
        _ change: CredentialChange?,
        by opening: Opening? = nil,
        isHeld: Bool = false,
        inPool pool: Lane? = nil
    ) -> UpdateCall {
        let opening = opening ?? first
        let call = UpdateCall(name: name)
        state.withLock { $0.calls.append(call) }
        log.happened("\(name) updates by \(opening.name)")
        if !isHeld { call.letGo() }
        let lane = pool ?? Lane(name)
        let task = lane.start { [self] in
            call.begins()
            log.check()
            let body: CredentialUpdate = { record in
                self.enters(call, record)
                defer { self.leaves(call) }
                // A store that blocks the thread of the pool leaves none on which to go on.
                if pool == nil {
                    // In a task of its own: a cancelled body stays inside for as long as the scenario wants.
                    await Task { await call.waitAtExit() }.value
                    // An update that may come in beside it gets the time to.
                    for _ in 0..<3 { await Task.yield() }
                }
                guard let change else { throw BodyError() }
                return change
            }
            let result: UpdateCall.Outcome
            do { result = .success(try await opening.store.update(body)) } catch { result = .failure(error) }
            call.ends(result)
            log.happened("\(name) ends with \(text(result))")
        }
        call.runs(in: task)
        return call
    }

    /// An update from beginning to end, which must succeed.
    @discardableResult
    func update(_ change: CredentialChange, by opening: Opening? = nil) async throws -> CredentialRecord? {
        try await record(of: start("somebody", change, by: opening))
    }

    /// Stores the credential with this name.
    @discardableResult
    func save(_ name: String, by opening: Opening? = nil) async throws -> CredentialRecord? {
        try await update(.replace(credential(name)), by: opening)
    }

    /// An update that is inside until the scenario lets it go on; `nil` throws then.
    func holder(_ change: CredentialChange? = .keep) async throws -> UpdateCall {
        let holder = start("the holder", change, isHeld: true)
        guard try await wait(until: { !holder.seen.isEmpty || holder.result != nil }), !holder.seen.isEmpty else {
            throw violation("the holder to get inside", situation(of: holder))
        }
        return holder
    }

    /// The record that an update returns, which must succeed.
    @discardableResult
    func record(of call: UpdateCall) async throws -> CredentialRecord? {
        let result = try await result(of: call)
        guard case .success(let record) = result else { throw violation("\(call.name) to succeed", text(result)) }
        return record
    }

    /// Lets the body go on, and waits for the end of the call.
    func result(of call: UpdateCall) async throws -> UpdateCall.Outcome {
        call.letGo()
        guard try await wait(until: { call.result != nil }), let result = call.result else {
            throw violation("\(call.name) to end", situation(of: call))
        }
        return result
    }

    /// On a lane: the store's cancellation handlers run there.
    func cancel(_ call: UpdateCall) async throws {
        try await value(of: "cancelling \(call.name)", on: Lane("cancel")) { call.cancel() }
    }

    private func enters(_ call: UpdateCall, _ record: CredentialRecord?) {
        state.withLock { state in
            state.overlap = state.overlap ?? state.inside.first.map { "\(call.name) is inside with \($0)" }
            state.inside.append(call.name)
        }
        call.sees(record)
        log.happened("\(call.name) is inside and sees \(text(record))")
    }

    private func leaves(_ call: UpdateCall) {
        state.withLock { state in state.inside.removeAll { $0 == call.name } }
        log.happened("\(call.name) leaves")
    }

    // MARK: Expectations

    /// - Parameter name: `nil` stands for no record.
    func expect(_ record: CredentialRecord?, is name: String?, from source: String) throws {
        try expect(
            record.map(\.credential.refreshToken) == name.map { credential($0).refreshToken },
            "\(source) to bring \(name.map { "credential \($0)" } ?? "no record")",
            observed: text(record)
        )
    }

    /// Expects a call that waits to end with an error, while somebody else is inside.
    func expect(_ waiter: UpdateCall, endsWith expected: String, _ isExpected: (any Error) -> Bool) async throws {
        guard try await wait(until: { waiter.result != nil }), case .failure(let error) = waiter.result,
            isExpected(error)
        else { throw violation("\(waiter.name) to end with \(expected)", situation(of: waiter)) }
    }

    /// Starts another update while somebody is inside, and expects it to stay outside.
    func expectExclusion(of holder: UpdateCall) async throws {
        let other = start("another one", .keep)
        await giveTime()
        try expect(other.seen.isEmpty, "one body at a time", observed: overlap ?? "another one is inside")
        _ = try await result(of: holder)
        await comes { other.result != nil }
        try expect(overlap == nil, "one body at a time", observed: overlap ?? "")
    }

    /// Another opening, or the same one if the store has one only.
    func otherOpening() async throws -> Opening {
        subject.features.contains(.openings) ? try await open() : first
    }

    /// Who was inside together, if anybody was.
    var overlap: String? { state.withLock { $0.overlap } }

    /// Gives what must not happen some time to happen: there is no event to wait for.
    ///
    /// On a busy machine a call may not have been made yet, and would only miss what it must not meet.
    func giveTime() async {
        let calls = state.withLock { $0.calls }
        await comes { calls.allSatisfy(\.hasBegun) }
        for _ in 0..<3 {
            await TimeLimit.pause(milliseconds: 15)
            // Behind all that waits for a thread, unless the subject blocks the threads.
            let isNext = Locked(false)
            Task.detached { [log] in
                isNext.withLock { $0 = true }
                log.check()
            }
            _ = await log.wait(0.3) { isNext.withLock { $0 } }
        }
    }

    // MARK: Words

    /// A credential that reports call by its name; its tokens are secrets.
    func credential(_ name: String) -> Credential {
        Credential(accessToken: AccessToken(value: "s3cret-access-\(name)"), refreshToken: "s3cret-refresh-\(name)")
    }

    func text(_ record: CredentialRecord?) -> String {
        guard let record else { return "no record" }
        let name = record.credential.refreshToken.map { token in
            token.hasPrefix("s3cret-refresh-") ? String(token.dropFirst("s3cret-refresh-".count)) : "of nobody"
        }
        return "credential \(name ?? "without a refresh token"), version \(record.version)"
    }

    func text(_ result: UpdateCall.Outcome) -> String {
        switch result {
        case .success(let record): text(record)
        case .failure(let error): error is BodyError ? "the body's error" : "\(type(of: error)): \(error)"
        }
    }

    private func situation(of call: UpdateCall) -> String {
        if let result = call.result { return "it ends with \(text(result))" }
        return call.seen.isEmpty ? "it waits" : "it is inside, or does not return after its body"
    }
}

/// One call of `update`, whose body the scenario can hold.
final class UpdateCall: Sendable {
    typealias Outcome = Result<CredentialRecord?, any Error>

    private struct State {
        var hasBegun = false
        var seen: [CredentialRecord?] = []
        var result: Outcome?
        var task: Task<Void, Never>?
    }

    let name: String
    private let exit = AsyncStream<Never>.makeStream()
    private let state = Locked(State())

    init(name: String) {
        self.name = name
    }

    /// The records with which the body was run: one, or the store runs bodies twice.
    var seen: [CredentialRecord?] { state.withLock { $0.seen } }
    var result: Outcome? { state.withLock { $0.result } }
    /// Whether the store has been called, or is about to be.
    var hasBegun: Bool { state.withLock { $0.hasBegun } }

    func begins() { state.withLock { $0.hasBegun = true } }
    func sees(_ record: CredentialRecord?) { state.withLock { $0.seen.append(record) } }
    func ends(_ result: Outcome) { state.withLock { $0.result = result } }
    func runs(in task: Task<Void, Never>) { state.withLock { $0.task = task } }
    /// Lets the body go on.
    func letGo() { exit.continuation.finish() }
    /// Holds the body until the scenario lets it go on, or cancels the call.
    func waitAtExit() async { for await _ in exit.stream {} }
    /// Runs the store's cancellation handlers here.
    func cancel() { state.withLock { $0.task }?.cancel() }
}

/// What a scenario's body throws.
struct BodyError: Error, Hashable {}
