import AccessTokenCore
import Foundation

@testable import AccessTokenOAuth

/// Processes that share the row of one credential, the database and a strict server, as a value.
///
/// Each process runs the renewal's own machine. A statement, a request, a reply, a fault and a tick of the clock are
/// one step each. Nothing has a thread or a time of its own.
struct FleetModel: Sendable {
    /// What is changed about the protocol, to see what a rule is good for.
    enum Change: String, CaseIterable, Sendable {
        /// The rules before: who finds the holder gone keeps that in its own memory, and gives the row back when it
        /// leaves.
        case givesBack
        /// Nobody asks whether the sender of a note lives: being let in counts as its absence.
        case asksNobody
        /// A note is over when it is old by the clock of the database.
        case trustsClock
        /// A row is written whatever its version is.
        case writesAnyVersion
        /// A row is left once, also if the statement that enters it may still arrive.
        case leavesOnce
        /// Whoever is kept out does not read the row.
        case readsNothing
        /// A process that has given up leaves its note in the record.
        case keepsNote
        /// The sender is dead as soon as it is not seen.
        case waitsForNothing
        /// Whoever was stopped between two looks takes the sender for gone all that time.
        case countsGaps
    }

    /// What may go wrong.
    enum Fault: String, Sendable {
        case cut, silence, kill, stop, lostReply, lateEntry, clockJump
    }

    struct Row: Hashable, Sendable {
        /// Who is inside, as the row says.
        struct Holder: Hashable, Sendable {
            let process: Int
            /// Whether the entry is that of a body that has ended.
            var isStale = false
        }

        var version = 1
        var credential: Credential?
        var holder: Holder?
    }

    struct Request: Hashable, Sendable {
        let process: Int
        /// Counts the refresh tokens.
        let generation: Int
    }

    /// Seconds between two looks that follow each other, at most; a process that was stopped for longer looks later.
    static let tick = SenderWatch.longestGap
    /// How a process knows that it is alive to others, in ticks.
    static let delay = 4
    /// Ticks until a process that has heard nothing looks for another connection.
    static let silence = 2
    /// Longer than any run: only a jump of the clock passes it.
    static let patience: TimeInterval = 1_000_000

    let faults: Set<Fault>
    let changes: Set<Change>
    var faultsLeft: Int
    /// Whether somebody may sign the user out.
    var signOutLeft: Bool
    var hasSignedOut = false
    var row: Row
    var processes: [FleetProcess]
    /// Requests that the server has not answered.
    var requests: [Request] = []
    /// The refresh token that the server takes.
    var generation = 1
    /// Who has spent those before.
    var spenders: [Int] = []
    /// Entries that may still arrive.
    var lateEntries: [Row.Holder] = []
    var ticks = 0
    var complaint: String?

    init(
        processes count: Int,
        _ faults: Set<Fault>,
        most faultsLeft: Int,
        changes: Set<Change> = [],
        signsOut: Bool = false
    ) {
        self.faults = faults
        self.faultsLeft = faultsLeft
        self.changes = changes
        signOutLeft = signsOut
        row = Row(credential: Self.credential(1))
        let settings = RenewalStateMachine.Settings(
            hasGrant: false,
            leeway: 0,
            patience: Self.patience,
            quietTime: 1,
            takeOverDelay: changes.contains(.trustsClock)
                ? .infinity : changes.contains(.waitsForNothing) ? 0.5 : TimeInterval(Self.delay) * Self.tick
        )
        processes = (0..<count).map { FleetProcess($0, settings) }
    }

    static func credential(_ generation: Int) -> Credential {
        Credential(accessToken: AccessToken(value: "A\(generation)"), refreshToken: "\(generation)")
    }

    var now: Date { Date(timeIntervalSinceReferenceDate: TimeInterval(ticks) * Self.tick) }

    /// Whether others see that a process lives.
    func isPresent(_ process: Int) -> Bool { processes[process].isShown && processes[process].life != .dead }

    // MARK: Statements

    /// Takes the row; `false` if another process has it.
    mutating func enter(_ index: Int, isStale: Bool = false) -> Bool {
        switch row.holder {
        case let holder? where holder.process == index:
            // A statement that comes late does not take the row of the process' own body.
            guard !isStale || holder.isStale else { return false }
        case let holder? where isPresent(holder.process): return false
        case let holder?:
            if changes.contains(.givesBack) { processes[index].former = holder }
        case nil: break
        }
        row.holder = Row.Holder(process: index, isStale: isStale)
        return true
    }

    mutating func leave(_ index: Int) {
        guard row.holder?.process == index else { return }
        row.holder = processes[index].former
        processes[index].former = nil
    }

    /// Writes what a body has decided, in the place of what it has read; `false` if something else is there.
    ///
    /// Whoever has written its note stays inside.
    mutating func write(_ new: StoredRecord, by index: Int, replacing version: Int) -> Bool {
        guard row.version == version || changes.contains(.writesAnyVersion) else {
            return row.version == new.version && row.credential == new.credential
        }
        if hasSignedOut, new.credential != nil { complaint = "the session is back after the sign-out" }
        row.version = new.version
        row.credential = new.credential
        if row.holder?.process == index, new.credential?.note?.outcome != .awaited { leave(index) }
        return true
    }
}

/// A process of the model, in one load.
struct FleetProcess: Sendable {
    enum Life: UInt8, Sendable {
        case runs, stopped, dead
    }

    enum Stage: Sendable {
        /// Wants to enter the row.
        case outside
        /// Has entered, and asks whether the sender of a note lives.
        case asking(StoredRecord)
        /// Is going to send the refresh token.
        case sending(StoredRecord, generation: Int)
        /// Has sent it.
        case waiting(StoredRecord)
        /// Knows what is to be done with the row.
        case leaving(StoredRecord, CredentialChange)
        case done
    }

    let index: Int
    var life = Life.runs
    /// Whether the database has its lock.
    var isShown = true
    /// Ticks until it connects again.
    var backIn = 0
    /// Ticks since it was there for a whole tick: whoever is there for less may be seen by nobody.
    var away = 0
    /// Whether it was not seen for so long that others may take it for dead.
    var wasAway = false
    var stage = Stage.outside
    /// Whether it looks again after the next tick.
    var isPausing = false
    /// How often a statement has brought no reply.
    var attempts = 0
    /// What it was told about the row before it took it, by the rules before.
    var former: FleetModel.Row.Holder?
    /// Looks that ended at a row of others beside a valid token.
    var vainLooks = 0
    /// Whether it leaves its former entry again and again.
    var leavesAgain = false
    var memory = LoaderMemory()
    var machine: RenewalStateMachine

    init(_ index: Int, _ settings: RenewalStateMachine.Settings) {
        self.index = index
        memory.process = UInt64(index) + 1
        machine = RenewalStateMachine(replacing: AccessToken(value: "A1"), settings)
    }

    /// Whether it has something to do before the clock ticks on.
    var isBusy: Bool {
        guard life == .runs, !isPausing else { return false }
        switch stage {
        case .outside, .asking, .sending, .leaving: return true
        case .waiting, .done: return false
        }
    }

    /// Whether its body runs, or its update is not over.
    var isInside: Bool {
        switch stage {
        case .asking, .sending, .waiting, .leaving: true
        case .outside: attempts > 0
        case .done: false
        }
    }
}
