public import AccessTokenCore
import Foundation

/// Where a load waits before it has the store, in this order.
///
/// The ``RenewalStateMachine`` decides what a load waits for. This file has the waits before the store; the rest is in
/// `OAuthLoader+Renewal.swift`. A load that finds a free turn begins with wait 4.
///
/// | wait for | until, at most | what ends it | a cancellation |
/// | --- | --- | --- | --- |
/// | 1. the look at the store, to see whether a turn is needed | the deadline: `unavailable` | the store's answer | is seen at 2 |
/// | 2. the store's place in line, of which each key has one | the end of the load that has it | that load leaves the place, or its look fails | `CancellationError` |
/// | 3. a grant, then the turn at the endpoint | the deadline for each; the line says when nobody is answered | the app's code; the end of another exchange, or a timer | ends the load with `CancellationError` |
/// | 4. the store's exclusion, where the load looks again | the store's own limit: `busy` | the holder leaves | none: it is a task of its own |
/// | 5. the reply to what another process has sent | the end of that process, or its patience | a look at the record, four in a second | none |
/// | 6. a connection, then the reply | four deadlines | the server; or a sign-in or sign-out, after one deadline | none |
/// | 7. the result, as the caller | one deadline from 4 on: `timedOut` | the end of 4 to 6 | none |
///
/// What a load finds at 4 may need what the load lacks after all: another user may be in the store, or a peer's token
/// may have gone. The load then leaves the store as it is, waits at 3, and goes on at 4.
extension OAuthLoader {
    /// Obtains a new token; see `AsyncAccessTokenLoader.load(replacing:)`.
    ///
    /// A load makes its grant, then waits for its turn at the endpoint. From then on it holds the store's lock until
    /// the exchange has ended; its caller waits for the deadline at most.
    ///
    /// It runs on no actor of the caller's: a main actor would run the steps of all its accounts.
    @concurrent
    public func load(replacing old: AccessToken?) async throws -> AccessToken {
        // Thousands of loads may wait here, each with this frame in memory. The rest is in functions that are not
        // inlined: with them the frame would have 16 KB.
        let means: Means
        if let turn = turnAtOnce() {
            means = Means(turn: turn)
        } else if let gate = exchange.gate, let need = try await needByLook(replacing: old) {
            means = try await meansByPlace(for: need, replacing: old, at: gate)
        } else {
            means = .none
        }
        defer { if means.hasPlace { memory.places.unlock(exchange.exactKey) } }
        return try await load(replacing: old, beginningWith: means)
    }

    /// A load with a grant looks first: the grant would be made during the turn.
    private func turnAtOnce() -> ExchangeGate.Turn? { exchange.hasGrant ? nil : exchange.gate?.turnAtOnce() }

    /// Goes on with what a load has, and waits for what it turns out to lack.
    @inline(never)
    private func load(replacing old: AccessToken?, beginningWith means: Means) async throws -> AccessToken {
        let load = RunningLoad(machine(replacing: old), memory)
        var means = means
        while true {
            switch try await ending(of: load, with: means) {
            case .result(let result): return try result.get()
            case .wait(let need):
                // Only what goes to an endpoint lacks anything.
                guard let gate = exchange.gate else { throw CredentialStoreError.busy }
                means = try await self.means(for: need, at: gate)
            }
        }
    }

    // MARK: 1. The look

    /// What a load would need, by a look at the store from outside; `nil` if it would send nothing.
    @inline(never)
    private func needByLook(replacing old: AccessToken?) async throws -> Need? {
        try await made(within: exchange.deadline, by: exchange.clock, orThrow: self.unansweredLook) {
            // The load itself will say what fails.
            do { return self.need(by: try await self.store.load(), replacing: old) } catch { return nil }
        }
    }

    /// Nothing was sent, which `timedOut` would not say.
    private var unansweredLook: CredentialStoreError {
        let what = "it has not said within \(exchange.deadline) seconds what is in it, and nothing was sent"
        return .unavailable(at: "\(type(of: store))", what)
    }

    /// Not inlined: a look would keep all of this in its frame while it waits for its store.
    @inline(never)
    private func need(by record: CredentialRecord?, replacing old: AccessToken?) -> Need? {
        let machine = machine(replacing: old)
        return memory.withLock { machine.need(by: record, $0, at: exchange.clock.now) }
    }

    // MARK: 2. The place in line

    /// Waits in line, where a store has one place for each key.
    @inline(never)
    private func meansByPlace(
        for need: Need,
        replacing old: AccessToken?,
        at gate: ExchangeGate
    ) async throws -> Means {
        var need = need
        if try await memory.places.lock(exchange.exactKey) {
            // The load before this one may have brought what this one wants.
            guard let present = try await needByLookInPlace(replacing: old) else {
                // Whoever comes next need not wait for this load, which sends nothing.
                memory.places.unlock(exchange.exactKey)
                return .none
            }
            need = present
        }
        do {
            if case .turn = need { return Means(turn: try await gate.turn(.renewal), hasPlace: true) }
            let means = try await means(for: need, at: gate)
            return Means(turn: means.turn, grant: means.grant, hasPlace: true)
        } catch {
            memory.places.unlock(exchange.exactKey)
            throw error
        }
    }

    /// As ``needByLook(replacing:)``, by a load that was handed the place in line; if it throws, the place is left.
    @inline(never)
    private func needByLookInPlace(replacing old: AccessToken?) async throws -> Need? {
        do {
            // It may have been cancelled at the moment at which it was handed the place.
            try Task.checkCancellation()
            return try await needByLook(replacing: old)
        } catch let error as CredentialStoreError {
            // Those who wait would find out one after the other, each after a deadline of its own.
            memory.places.fail(exchange.exactKey, error)
            throw error
        } catch {
            memory.places.unlock(exchange.exactKey)
            throw error
        }
    }

    // MARK: 3. A grant, then the turn

    /// Waits for a turn, and makes the grant before.
    ///
    /// Making a grant may itself need a token of this endpoint. If loads made grants during their turn, all turns could
    /// be held by loads that wait for another one.
    @inline(never)
    private func means(for need: Need, at gate: ExchangeGate) async throws -> Means {
        guard case .grant(let session) = need, let makeGrant = exchange.makeGrant else {
            let turn = try await gate.turn(.renewal)
            guard case .grant(let session) = need, let grant = exchange.constantGrant else { return Means(turn: turn) }
            // As below: a sign-out has ended the session meanwhile.
            try Task.checkCancellation()
            return Means(turn: turn, grant: (grant, session))
        }
        var kind = ExchangeLine.Kind.renewal
        while true {
            let grant = try await makeGrant()
            let made = exchange.clock.now
            let turn = try await gate.turn(kind)
            // A sign-out has ended the session meanwhile.
            try Task.checkCancellation()
            let age = exchange.clock.now.timeIntervalSince(made)
            guard let next = kind.again(withGrantOf: age, deadline: exchange.deadline) else {
                return Means(turn: turn, grant: (grant, session))
            }
            turn.end()
            kind = next
        }
    }
}
