import Foundation
import TestSupport
import Testing

@testable import AccessTokenOAuth

/// Two processes, a store and a strict server, in every order of their steps up to a length.
///
/// `EVERY_SEQUENCE=long` tries sequences that are four steps longer: some 200 times as many.
@Suite("Every order in which two processes can renew one credential", .endsHangs)
struct EveryRenewalTests {
    private static let isLong = ProcessInfo.processInfo.environment["EVERY_SEQUENCE"] == "long"

    /// Runs every sequence of steps, on a thread of its own: tests share theirs.
    private func expectSound(_ world: World, _ kinds: [World.Step.Kind], length: Int) async {
        let length = Self.isLong ? length + 4 : length
        let (count, complaint) = await onThreadOfItsOwn { Self.explore(world, kinds, length: length) }
        if let complaint { Issue.record("\(complaint)") }
        #expect(count > 100)
    }

    /// Runs every sequence of steps that begins with a path, and then lets both processes come to an end.
    private static func explore(
        _ world: World,
        _ kinds: [World.Step.Kind],
        length: Int,
        path: [World.Step] = []
    ) -> (sequences: Int, complaint: String?) {
        var end = world
        end.comeToAnEnd()
        if !end.complaints.isEmpty {
            return (1, "\(end.complaints) after \(path.map(\.description).joined(separator: ", "))")
        }
        guard path.count < length else { return (1, nil) }
        var count = 0
        for kind in kinds {
            // The processes are alike: the first one begins.
            for process in path.isEmpty ? [0] : [0, 1] {
                var next = world
                guard next.take(kind, by: process) else { continue }
                let path = path + [World.Step(kind: kind, process: process)]
                let found = explore(next, kinds, length: length, path: path)
                count += found.sequences
                if let complaint = found.complaint { return (count, complaint) }
            }
        }
        return (count, nil)
    }

    @Test func `only death ends the exclusion: no refresh token is sent twice, whoever is slow`() async {
        let world = World(takeOverDelay: RenewalStateMachine.pause)
        await expectSound(world, [.go, .serve, .reply, .passDeadline], length: 7)
    }

    @Test func `the store fails at any moment: what was issued is saved later, and never exchanged again`() async {
        // A caller that failed tries again at once, and the others wait for longer than that.
        let world = World(takeOverDelay: .infinity)
        await expectSound(world, [.go, .serve, .reply, .failSaving], length: 6)
    }

    @Test func `the exclusion is lost at any moment: the others wait for the reply`() async {
        let world = World(takeOverDelay: .infinity)
        await expectSound(world, [.go, .serve, .reply, .loseExclusion], length: 8)
    }

    @Test func `a sign-out at any moment is not undone`() async {
        let world = World(takeOverDelay: .infinity)
        await expectSound(world, [.go, .serve, .reply, .loseExclusion, .signOut], length: 8)
    }

    @Test func `a sign-out that the store does not take, at any moment: from then on nothing is sent or handed out`()
        async
    {
        let world = World(takeOverDelay: .infinity)
        await expectSound(world, [.go, .serve, .reply, .loseExclusion, .signOutInVain], length: 8)
    }

    @Test func `a process dies, or a reply is lost, at any moment: the token is sent twice at most`() async {
        let world = World(takeOverDelay: RenewalStateMachine.pause, grace: true)
        await expectSound(world, [.go, .serve, .reply, .loseReply, .die], length: 6)
    }

    @Test func `a successor comes back after a pause past all limits: it beats the removal by refusal`() async {
        let world = World(takeOverDelay: .infinity)
        await expectSound(world, [.go, .serve, .reply, .loseExclusion, .passPatience], length: 7)
    }
}

/// What the tests move step by step; nothing in it has a thread or a time of its own.
private struct World: Sendable {
    struct Step: CustomStringConvertible {
        enum Kind {
            case go, serve, reply, failSaving, loseReply, loseExclusion, passDeadline, passPatience, signOut
            /// The store does not take it: the process owes the removal.
            case signOutInVain
            case die
        }

        let kind: Kind
        let process: Int
        var description: String { "\(kind) \(process)" }
    }

    private enum Phase {
        case idle
        case outside
        case sent(Int)
        case served(Result<Int, OAuthError>)
    }

    private struct Process {
        var memory = LoaderMemory()
        var load: RenewalStateMachine?
        var phase = Phase.idle
        /// The access token that it had last.
        var token = 0
        /// The version that it read inside.
        var base: Int?
        var failsToSave = 0
        var hasLostExclusion = false
        var hasSignedOut = false

        var isIdle: Bool { if case .idle = phase { true } else { false } }
    }

    /// As many steps as the longest load takes, with all of its waits.
    private static let rounds = 16

    private let settings: RenewalStateMachine.Settings
    /// Whether the server takes the former refresh token once more.
    private let grace: Bool
    private var processes = [Process(), Process()]
    private var holder: Int?
    private var version = 1
    private var credential: Credential? = World.credential(0)
    private var now = Date(timeIntervalSinceReferenceDate: 0)
    private var hasSignedOut = false
    private var hasPassedPatience = false
    private var deaths = 0
    /// The number of the refresh token that the server takes.
    private var good = 0
    private var sends: [Int: Int] = [:]
    private var nextProcess: UInt64 = 0
    private(set) var complaints: [String] = []

    init(takeOverDelay: TimeInterval, grace: Bool = false) {
        settings = RenewalStateMachine.Settings(
            hasGrant: false,
            leeway: 0,
            patience: 100,
            quietTime: 25,
            takeOverDelay: takeOverDelay
        )
        self.grace = grace
        for index in processes.indices { restart(index) }
    }

    private static func credential(_ number: Int) -> Credential {
        Credential(accessToken: AccessToken(value: "\(number)"), refreshToken: "\(number)").inSession(SessionNumber(1))
    }

    /// A lost reply, each death, and the end of patience let the token be sent once more.
    private var mostSends: Int { (grace ? 2 : 1) + deaths + (hasPassedPatience ? 1 : 0) }

    private var record: CredentialRecord? { credential.map { CredentialRecord(credential: $0, version: version) } }

    /// Takes a step; `false` if it is not possible now.
    mutating func take(_ kind: Step.Kind, by index: Int) -> Bool {
        let process = processes[index]
        switch (kind, process.phase) {
        case (.go, .idle), (.go, .outside):
            guard holder == nil else { return false }
            enter(index)
        case (.serve, .sent(let token)): processes[index].phase = .served(serve(token))
        case (.reply, .served(let result)): reply(index, result)
        case (.loseReply, .sent), (.loseReply, .served): answer(index, .failed(.connectionLost(code: 0)))
        case (.failSaving, _):
            guard process.failsToSave == 0 else { return false }
            processes[index].failsToSave = 1
        case (.loseExclusion, _):
            guard holder == index else { return false }
            processes[index].hasLostExclusion = true
            holder = nil
        case (.passDeadline, .sent), (.passDeadline, .outside): processes[index].load?.deadlinePassed()
        case (.passPatience, _):
            guard !hasPassedPatience, index == 0 else { return false }
            hasPassedPatience = true
            now += settings.patience
        case (.signOut, _):
            guard holder == nil, !hasSignedOut else { return false }
            hasSignedOut = true
            processes[index].memory.forget()
            credential = nil
        case (.signOutInVain, _):
            guard let credential, !hasSignedOut else { return false }
            (hasSignedOut, processes[index].hasSignedOut) = (true, true)
            processes[index].memory.forget()
            processes[index].memory.ended = .init(session: SessionMark(credential), unread: nil, subject: nil)
        case (.die, .sent), (.die, .outside):
            if holder == index { holder = nil }
            deaths += 1
            restart(index)
        default: return false
        }
        return true
    }

    /// Both processes go on until they have nothing to do; then the session has to be what the server takes.
    mutating func comeToAnEnd() {
        for index in processes.indices { processes[index].failsToSave = 0 }
        for round in 0..<3 {
            if round == 2, grace {
                // Two lost replies, and then a while in which no process sends.
                now += settings.quietTime
                sends = [:]
            }
            // A process that has nothing to do begins one more load, which brings along what was not saved.
            var loads = [0, 0]
            for _ in 0..<(2 * Self.rounds) {
                for index in processes.indices where loads[index] < 2 || !processes[index].isIdle {
                    let wasIdle = processes[index].isIdle
                    let goesOn = take(.go, by: index) || take(.serve, by: index) || take(.reply, by: index)
                    if goesOn, wasIdle { loads[index] += 1 }
                }
            }
        }
        if hasSignedOut {
            if credential != nil { complaints.append("the session came back") }
        } else if credential?.refreshToken.flatMap({ Int($0) }) != good {
            complaints.append("the store has \(credential?.refreshToken ?? "none"), the server \(good)")
        }
    }

    private mutating func restart(_ index: Int) {
        let token = processes[index].token
        processes[index] = Process()
        processes[index].token = token
        nextProcess += 1
        processes[index].memory.process = nextProcess
    }

    private mutating func enter(_ index: Int) {
        var process = processes[index]
        process.base = record?.version
        var load = process.load ?? RenewalStateMachine(replacing: AccessToken(value: "\(process.token)"), settings)
        let action = load.entered(record, &process.memory, at: now)
        process.load = load
        processes[index] = process
        switch action {
        case .leave(let change): leave(index, change)
        case .send(let token):
            holder = index
            if process.hasSignedOut { complaints.append("\(token) was sent after the sign-out") }
            let number = Int(token) ?? -1
            sends[number, default: 0] += 1
            if sends[number, default: 0] > mostSends { complaints.append("\(token) was sent again") }
            processes[index].phase = .sent(number)
        case .sendGrant: complaints.append("there is no grant")
        }
    }

    private mutating func serve(_ token: Int) -> Result<Int, OAuthError> {
        if token == good || grace && token + 1 == good {
            good = token + 1
            return .success(token + 1)
        }
        // The one that was first keeps its session: the tests look for requests that should not have been sent.
        return .failure(.refused("invalid_grant"))
    }

    private mutating func reply(_ index: Int, _ result: Result<Int, OAuthError>) {
        switch result {
        case .success(let number):
            let credential = World.credential(number)
            answer(index, .issued(credential, .success(AccessToken(value: "\(number)"))))
        case .failure(let error): answer(index, .failed(error))
        }
    }

    private mutating func answer(_ index: Int, _ answer: RenewalStateMachine.Answer) {
        guard var load = processes[index].load else { return }
        let change = load.answered(answer, present: record, &processes[index].memory, at: now)
        processes[index].load = load
        leave(index, change)
    }

    private mutating func leave(_ index: Int, _ change: CredentialChange) {
        var process = processes[index]
        let result: Result<CredentialRecord?, any Error>
        if process.hasLostExclusion {
            result = .failure(CredentialStoreError.superseded)
        } else if change != .keep, process.failsToSave > 0 {
            process.failsToSave -= 1
            result = .failure(CredentialStoreError.unavailable(at: "disk", "it is full"))
        } else {
            switch change {
            case .keep: break
            case .replace(let credential):
                self.credential = credential
                version += 1
            case .remove: credential = nil
            }
            result = .success(record)
        }
        process.hasLostExclusion = false
        if holder == index { holder = nil }
        let action = process.load?.left(result, &process.memory, at: now)
        process.phase = .outside
        if case .pause(let seconds) = action { now += seconds }
        if case .end(let end) = action {
            process.load = nil
            process.phase = .idle
            if case .success(let token) = end {
                if process.hasSignedOut { complaints.append("\(token.value) was handed out after the sign-out") }
                process.token = Int(token.value) ?? -1
                let isStored = credential.flatMap { $0.refreshToken }.flatMap { Int($0) } ?? .max >= process.token
                if !isStored { complaints.append("\(token.value) was handed out before it was saved") }
            }
        }
        processes[index] = process
    }
}
