package import AccessTokenContract
import AccessTokenCore
import AccessTokenOAuth
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

    /// Seconds after which an update that waits is to be told that the store is busy.
    package static let usualSetting: TimeInterval = 60

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
        for call in state.withLock({ $0.calls }) {
            call.letGo()
            call.cancel()
        }
        try? FileManager.default.removeItem(at: fixture.folder)
    }

    // MARK: Openings

    /// The one that is there when a scenario begins.
    var first: Opening { state.withLock { $0.openings[0] } }

    func open() async throws -> Opening {
        let name = "opening \(state.withLock { $0.openings.count } + 1)"
        let (open, fixture) = (subject.open, fixture)
        let store = try await value(of: "\(name) of the store", on: Lane("open")) { try await open(fixture) }
        let opening = Opening(name: name, store: store)
        state.withLock { $0.openings.append(opening) }
        return opening
    }

    func load(_ opening: Opening? = nil) async throws -> CredentialRecord? {
        let opening = opening ?? first
        let store = opening.store
        let record = try await value(of: "load by \(opening.name)", on: Lane("load")) { try await store.load() }
        log.happened("load by \(opening.name) brings \(text(record))")
        return record
    }

    // MARK: Updates

    /// Starts an update, which does what the change says as soon as it is inside, or when the scenario lets it.
    ///
    /// - Parameter pool: where the call runs together with others, and its body is not held; `nil` gives it a lane of its own.
    func start(
        _ name: String,
        _ change: Result<CredentialChange, BodyError>,
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
            let result: Result<CredentialRecord?, any Error>
            do {
                result = .success(
                    try await opening.store.update { record in
                        self.enters(call, record)
                        defer { self.leaves(call) }
                        // A store that blocks the thread of the pool leaves none on which to go on.
                        if pool != nil { return try change.get() }
                        await call.waitAtExit()
                        // An update that may come in beside it gets the time to.
                        for _ in 0..<3 { await Task.yield() }
                        return try change.get()
                    }
                )
            } catch {
                result = .failure(error)
            }
            call.ends(result)
            log.happened("\(name) ends with \(text(result))")
        }
        call.runs(in: task)
        return call
    }

    /// An update from beginning to end, which must succeed.
    @discardableResult
    func update(_ change: CredentialChange, by opening: Opening? = nil) async throws -> CredentialRecord? {
        try await record(of: start("somebody", .success(change), by: opening))
    }

    /// Stores the credential with this name.
    @discardableResult
    func save(_ name: String, by opening: Opening? = nil) async throws -> CredentialRecord? {
        try await update(.replace(credential(name)), by: opening)
    }

    /// An update that is inside until the scenario lets it go on.
    func holder(_ change: CredentialChange = .keep) async throws -> UpdateCall {
        let holder = start("the holder", .success(change), isHeld: true)
        try await waitUntilInside(holder)
        return holder
    }

    /// An update whose body throws, from beginning to end.
    @discardableResult
    func failedUpdate() async throws -> Result<CredentialRecord?, any Error> {
        try await result(of: start("who fails", .failure(BodyError())))
    }

    /// Waits until the body of a call runs.
    func waitUntilInside(_ call: UpdateCall) async throws {
        guard try await wait(until: { !call.seen.isEmpty || call.result != nil }), !call.seen.isEmpty else {
            throw violation("\(call.name) to get inside", situation(of: call))
        }
    }

    /// The record that an update returns, which must succeed.
    @discardableResult
    func record(of call: UpdateCall) async throws -> CredentialRecord? {
        switch try await result(of: call) {
        case .success(let record): return record
        case .failure(let error):
            throw violation("\(call.name) to succeed", text(Result<CredentialRecord?, any Error>.failure(error)))
        }
    }

    /// Lets the body go on, and waits for the end of the call.
    func result(of call: UpdateCall) async throws -> Result<CredentialRecord?, any Error> {
        call.letGo()
        guard try await wait(until: { call.result != nil }), let result = call.result else {
            throw violation("\(call.name) to end", situation(of: call))
        }
        return result
    }

    private func enters(_ call: UpdateCall, _ record: CredentialRecord?) {
        state.withLock { state in
            if let other = state.inside.first {
                state.overlap = state.overlap ?? "\(call.name) is inside with \(other)"
            }
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

    func expect(_ record: CredentialRecord?, is name: String, from source: String) throws {
        try expect(
            record?.credential.refreshToken == credential(name).refreshToken,
            "\(source) to bring credential \(name)",
            observed: text(record)
        )
    }

    func expectOneAtATime() throws {
        let overlap = state.withLock { $0.overlap }
        try expect(overlap == nil, "one body at a time", observed: overlap ?? "")
    }

    /// Gives what must not happen some time to happen: there is no event to wait for.
    func giveTime() async {
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

    func isBusy(_ result: Result<CredentialRecord?, any Error>) -> Bool {
        guard case .failure(let error) = result else { return false }
        return subject.errors(error) as? CredentialStoreError == .busy
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

    func text(_ result: Result<CredentialRecord?, any Error>) -> String {
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
