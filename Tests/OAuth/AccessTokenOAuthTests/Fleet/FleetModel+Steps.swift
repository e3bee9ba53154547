import AccessTokenCore
import Foundation

@testable import AccessTokenOAuth

extension FleetModel {
    /// Every step that is possible now, with what comes of it.
    func steps() -> [(name: String, next: FleetModel)] {
        var steps: [(String, FleetModel)] = []
        func add(_ name: String, _ change: (inout FleetModel) -> Void) {
            var next = self
            change(&next)
            steps.append((name, next))
        }
        func addFault(_ fault: Fault, _ name: String, _ change: (inout FleetModel) -> Void) {
            guard faultsLeft > 0, faults.contains(fault) else { return }
            add(name) { next in
                next.faultsLeft -= 1
                change(&next)
            }
        }
        for index in processes.indices {
            let (process, name) = (processes[index], "P\(index + 1)")
            if process.isBusy { addStatements(of: index, name, add, addFault) }
            if process.life == .stopped { add("\(name) goes on") { $0.processes[index].life = .runs } }
            guard process.life == .runs, !process.isDone else { continue }
            if process.isShown {
                addFault(.cut, "\(name) is cut") { $0.hide(index, for: 1) }
                addFault(.silence, "the database falls silent for \(name)") { $0.hide(index, for: Self.silence) }
            }
            addFault(.kill, "\(name) is killed") { next in
                next.processes[index].life = .dead
                next.processes[index].isShown = false
            }
            addFault(.stop, "\(name) is stopped") { $0.processes[index].life = .stopped }
        }
        for (place, request) in requests.enumerated() {
            add("the server answers P\(request.process + 1)") { $0.answer(place) }
        }
        for (place, entry) in lateEntries.enumerated() {
            add("a late statement enters the row for P\(entry.process + 1)") { next in
                next.lateEntries.remove(at: place)
                _ = next.enter(entry.process, isStale: entry.isStale)
            }
        }
        for index in processes.indices where mayLeaveAgain(index) {
            add("P\(index + 1) leaves again") { $0.row.holder = nil }
        }
        for index in processes.indices where mayWithdraw(index) {
            add("P\(index + 1) withdraws its note") { next in
                next.row.version += 1
                next.row.credential = next.row.credential?.noting(nil)
            }
        }
        if signOutLeft, row.holder.map({ !isPresent($0.process) }) ?? true {
            add("the user signs out") { next in
                (next.signOutLeft, next.hasSignedOut) = (false, true)
                (next.row.version, next.row.credential) = (next.row.version + 1, nil)
                next.row.holder = nil
            }
        }
        addFault(.clockJump, "the clock of the database jumps") { next in
            next.row.credential = next.row.credential?.moved(by: -2 * Self.patience)
        }
        // A tick takes longer than a statement: whoever can act has acted.
        if !processes.contains(where: \.isBusy), !processes.indices.contains(where: mayLeaveAgain) {
            add("tick") { $0.tick() }
        }
        return steps
    }

    private func mayLeaveAgain(_ index: Int) -> Bool {
        guard processes[index].life == .runs, processes[index].leavesAgain, let holder = row.holder else {
            return false
        }
        return holder.process == index && holder.isStale
    }

    /// A process that has given up on its announcement removes the note, in an update of its own.
    private func mayWithdraw(_ index: Int) -> Bool {
        guard processes[index].life == .runs, processes[index].isDone, !changes.contains(.keepsNote),
            let note = row.credential?.note, note.outcome == .awaited, note.sender == UInt64(index) + 1
        else { return false }
        return row.holder.map { $0.process == index || !isPresent($0.process) } ?? true
    }

    // MARK: Statements of a process

    private func addStatements(
        of index: Int,
        _ name: String,
        _ add: (String, (inout FleetModel) -> Void) -> Void,
        _ addFault: (Fault, String, (inout FleetModel) -> Void) -> Void
    ) {
        switch processes[index].stage {
        case .outside:
            add("\(name) looks at the row") { $0.look(index) }
            var next = self
            if next.enter(index) {
                addFault(.lostReply, "\(name) enters, and the reply is lost") { next in
                    _ = next.enter(index)
                    next.lose(index)
                }
            }
            addFault(.lateEntry, "\(name)'s entry does not arrive yet") { next in
                next.lateEntries.append(Row.Holder(process: index))
                next.processes[index].leavesAgain = !next.changes.contains(.leavesOnce)
                next.lose(index)
            }
        case .asking(let record): add("\(name) asks for the sender") { $0.decide(index, record, asks: true) }
        case .sending(let record, let generation):
            add("\(name) sends token \(generation)") { $0.send(index, record, generation) }
        case .leaving(let record, let change):
            add("\(name) \(change.word)") { $0.leave(index, record, change) }
            addFault(.lostReply, "\(name) \(change.word), and the reply is lost") { next in
                if let new = StoredRecord.applying(change, to: record) {
                    _ = next.write(new, by: index, replacing: record.version)
                } else {
                    next.leave(index)
                }
                next.lose(index)
            }
        case .waiting, .done: break
        }
    }

    /// A statement has brought no reply: it is run once more, and then fails.
    private mutating func lose(_ index: Int) {
        processes[index].attempts += 1
        guard processes[index].attempts > 1 else { return }
        // What is left is tried until it succeeds.
        leave(index)
        end(index, .failure(CredentialStoreError.unavailable(at: "row", "no reply")))
    }

    private mutating func look(_ index: Int) {
        guard enter(index) else {
            processes[index].isPausing = true
            guard row.credential?.accessToken.map({ $0.value != "A1" }) == true else { return }
            processes[index].vainLooks += 1
            if processes[index].vainLooks > 2 { complaint = "P\(index + 1) waits beside a valid token" }
            // A load that is kept out reads the row as well.
            if processes[index].vainLooks > 1, !changes.contains(.readsNothing) {
                processes[index].stage = .done
                if case .announced = processes[index].machine.state { processes[index].memory.sending = [] }
                outlive(index)
            }
            return
        }
        processes[index].attempts = 0
        processes[index].vainLooks = 0
        let record = StoredRecord(version: row.version, credential: row.credential)
        let note = row.credential?.note
        if let note, note.outcome == .awaited, note.sender != UInt64(index) + 1 {
            processes[index].stage = .asking(record)
        } else {
            decide(index, record, asks: false)
        }
    }

    /// The body runs.
    private mutating func decide(_ index: Int, _ record: StoredRecord, asks: Bool) {
        var seen = record
        if asks, !changes.contains(.asksNobody), var note = record.credential?.note {
            note.isSenderPresent = isPresent(Int(note.sender) - 1)
            seen = StoredRecord(version: record.version, credential: record.credential?.noting(note))
        }
        var process = processes[index]
        if changes.contains(.countsGaps), let note = seen.credential?.note { countGap(of: &process, note) }
        switch process.machine.entered(seen.record, &process.memory, at: now) {
        case .leave(let change): process.stage = .leaving(record, change)
        case .send(let token): process.stage = .sending(record, generation: Int(token) ?? 0)
        case .sendGrant: complaint = "there is no grant"
        }
        processes[index] = process
    }

    /// The looks that were not made count like those that were.
    private func countGap(of process: inout FleetProcess, _ note: SentNote) {
        guard let watch = process.memory.watch else { return }
        for moment in stride(from: watch.lastLook + Self.tick, to: now, by: Self.tick) {
            process.memory.watch = SenderWatch(process.memory.watch, seeing: note, delay: .infinity, at: moment)
        }
    }

    private mutating func send(_ index: Int, _ record: StoredRecord, _ generation: Int) {
        let senders =
            requests.filter { $0.generation == generation }.map(\.process)
            + (generation < self.generation ? [spenders[generation - 1]] : [])
        // Whoever was away for the whole delay may be taken for dead, and cannot know it.
        let lives = { (other: Int) in other != index && processes[other].life != .dead && !processes[other].wasAway }
        if !processes[index].wasAway, let other = senders.first(where: lives) {
            complaint = "P\(index + 1) sends token \(generation), which P\(other + 1) has sent, who lives"
        }
        requests.append(Request(process: index, generation: generation))
        processes[index].stage = .waiting(record)
    }

    /// The server carries a request out, and the process has the reply, if it lives.
    private mutating func answer(_ place: Int) {
        let request = requests.remove(at: place)
        let isGood = request.generation == generation
        if isGood {
            generation += 1
            spenders.append(request.process)
        }
        var process = processes[request.process]
        guard process.life != .dead, case .waiting(let record) = process.stage else { return }
        let token = AccessToken(value: "A\(generation)")
        let answer: RenewalStateMachine.Answer =
            isGood ? .issued(Self.credential(generation), .success(token)) : .failed(.refused("invalid_grant"))
        let present = row.credential.map { CredentialRecord(credential: $0, version: row.version) }
        let change = process.machine.answered(answer, present: present, &process.memory, at: now)
        process.stage = .leaving(record, change)
        processes[request.process] = process
    }

    private mutating func leave(_ index: Int, _ record: StoredRecord, _ change: CredentialChange) {
        guard let new = StoredRecord.applying(change, to: record) else {
            leave(index)
            return end(index, .success(record.record))
        }
        let isWritten = write(new, by: index, replacing: record.version)
        if isWritten, new.credential?.note?.outcome == .awaited { return decide(index, new, asks: false) }
        if !isWritten { leave(index) }
        end(index, isWritten ? .success(new.record) : .failure(CredentialStoreError.superseded))
    }

    /// The update is over, and the machine says how the load goes on.
    private mutating func end(_ index: Int, _ result: Result<CredentialRecord?, any Error>) {
        var process = processes[index]
        process.attempts = 0
        process.former = nil
        switch process.machine.left(result, &process.memory, at: now) {
        case .enter: process.stage = .outside
        case .pause: (process.stage, process.isPausing) = (.outside, true)
        case .wait: complaint = "a load of the model lacks nothing"
        case .end: process.stage = .done
        }
        processes[index] = process
        outlive(index)
    }

    /// The entries of a process are those of a body that has ended.
    private mutating func outlive(_ index: Int) {
        if row.holder?.process == index { row.holder?.isStale = true }
        for place in lateEntries.indices where lateEntries[place].process == index { lateEntries[place].isStale = true }
    }

    // MARK: Time

    private mutating func hide(_ index: Int, for ticks: Int) {
        processes[index].isShown = false
        processes[index].backIn = ticks
    }

    private mutating func tick() {
        ticks += 1
        for index in processes.indices {
            var process = processes[index]
            process.isPausing = false
            if process.isShown {
                process.away = 0
            } else if process.life != .dead {
                process.away += 1
                if process.away >= Self.delay - 1 { process.wasAway = true }
                if process.life == .runs {
                    process.backIn -= 1
                    if process.backIn <= 0 { process.isShown = true }
                }
            }
            processes[index] = process
        }
    }

    // MARK: Rules

    /// What must be true between any two steps.
    var broken: String? {
        if let complaint { return complaint }
        guard let holder = row.holder, processes[holder.process].life == .runs else { return nil }
        let process = processes[holder.process]
        if !process.isInside, !process.leavesAgain {
            return "the row names P\(holder.process + 1), which is not inside"
        }
        return nil
    }

    /// Whether everybody who lives has ended, and nobody has the row.
    var isOver: Bool {
        processes.allSatisfy { $0.life == .dead || $0.isDone }
            && row.holder.map { processes[$0.process].life == .dead } ?? true
    }
}

extension FleetProcess {
    var isDone: Bool { if case .done = stage { true } else { false } }
}

extension CredentialChange {
    fileprivate var word: String {
        switch self {
        case .keep: "leaves"
        case .replace(let credential): credential.note == nil ? "saves" : "announces"
        case .remove: "removes the record"
        }
    }
}
