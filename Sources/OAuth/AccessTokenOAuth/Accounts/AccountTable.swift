import AccessTokenCore

/// Which services there are, and which of them are to go; the accounts guard it by a lock.
@usableFromInline
struct AccountTable<Account: Hashable & Sendable, Service: Sendable>: Sendable {
    private struct Entry: Sendable {
        /// `nil` once it was let go.
        var service: Service?
        /// The service that was let go, if it lives on: as long as it does, there must be no second one.
        var released: (@Sendable () -> Service?)?
        /// How many sign-outs are under way: the service stays until the last one is done.
        var signOuts = 0
        /// The number of the last use.
        var lastUse = 0
        /// What the service's loaders know of stores that have no name.
        var memories: [SharedLoaderMemory] = []

        var current: Service? { service ?? released?() }
    }

    private var entries: [ExactKey<Account>: Entry] = [:]
    /// Makes a weak reference; `nil` if no service is ever let go.
    private let weakly: (@Sendable (Service) -> @Sendable () -> Service?)?
    /// How many services have not been let go.
    private var held = 0
    private var uses = 0
    /// The numbers of the last uses before the last two sweeps.
    private var marks = (older: 0, newer: 0)
    private var isSweepPlanned = false

    init(weakly: (@Sendable (Service) -> @Sendable () -> Service?)? = nil) { self.weakly = weakly }

    /// The accounts with their services, which are to leave the lock before they are released.
    var services: [(account: Account, service: Service)] {
        entries.compactMap { account, entry in entry.current.map { (account.value, $0) } }
    }

    /// The service of an account that has one, which is not used by that.
    func existing(_ account: Account) -> Service? { entries[ExactKey(account)]?.current }

    /// The service of an account that has one.
    @usableFromInline
    mutating func use(_ account: Account) -> Service? {
        guard weakly != nil else { return entries[ExactKey(account)]?.service }
        guard let index = entries.index(forKey: ExactKey(account)) else { return nil }
        uses += 1
        entries.values[index].lastUse = uses
        return retain(at: index)
    }

    /// The service of an account; another caller may have been faster to make it.
    mutating func service(for account: Account, orMadeBy make: (Account) -> Service) -> Service {
        if let service = use(account) { return service }
        uses += 1
        let (service, memories) = AccountMemories.collect(after: entries[ExactKey(account)]?.memories ?? []) {
            make(account)
        }
        entries[ExactKey(account), default: Entry()].service = service
        entries[ExactKey(account)]?.memories = memories
        entries[ExactKey(account)]?.lastUse = uses
        held += 1
        return service
    }

    /// The service, which is the accounts' own again if it was let go and lives on.
    private mutating func retain(at index: Dictionary<ExactKey<Account>, Entry>.Index) -> Service? {
        if let service = entries.values[index].service { return service }
        guard let service = entries.values[index].released?() else { return nil }
        (entries.values[index].service, entries.values[index].released) = (service, nil)
        held += 1
        return service
    }

    // MARK: Sign-outs

    mutating func beginSignOut(_ account: Account, orMadeBy make: (Account) -> Service) -> Service {
        defer { entries[ExactKey(account)]?.signOuts += 1 }
        return service(for: account, orMadeBy: make)
    }

    /// Returns what is to be released.
    mutating func endSignOut(_ account: Account) -> Service? {
        entries[ExactKey(account)]?.signOuts -= 1
        guard entries[ExactKey(account)]?.signOuts == 0,
            let entry = entries.removeValue(forKey: ExactKey(account))
        else { return nil }
        if entry.memories.contains(where: \.isOwing) { entries[ExactKey(account)] = Entry(memories: entry.memories) }
        if entry.service != nil { held -= 1 }
        return entry.service
    }

    // MARK: Letting go

    /// Whether nobody has planned the next sweep, and it is needed.
    mutating func planSweep() -> Bool {
        defer { isSweepPlanned = !entries.isEmpty }
        return !isSweepPlanned && !entries.isEmpty
    }

    /// Lets go of those that were not used since the sweep before the last one.
    mutating func letGoIdle() -> [Service] {
        isSweepPlanned = false
        let limit = marks.older
        marks = (marks.newer, uses)
        return letGo { $0.lastUse <= limit }
    }

    /// Lets go of the tenth that was not used for the longest time, if there are more than `most`.
    mutating func letGoBeyond(_ most: Int) -> [Service] {
        guard weakly != nil, held > most else { return [] }
        let uses = entries.values.filter { $0.service != nil && $0.signOuts == 0 }.map(\.lastUse).sorted()
        let count = min(uses.count - 1, max(held - most, most / 10))
        guard count > 0 else { return [] }
        let limit = uses[count - 1]
        return letGo { $0.lastUse <= limit }
    }

    private mutating func letGo(_ isChosen: (Entry) -> Bool) -> [Service] {
        guard let weakly else { return [] }
        var services: [Service] = []
        for index in entries.indices where entries.values[index].signOuts == 0 && isChosen(entries.values[index]) {
            guard let service = entries.values[index].service else { continue }
            entries.values[index].released = weakly(service)
            entries.values[index].service = nil
            services.append(service)
        }
        held -= services.count
        return services
    }

    /// Forgets the accounts whose service was let go and is no more, unless it owes its store something.
    ///
    /// Returns those that live on. Each may be released elsewhere meanwhile, and is to leave the lock before it goes.
    mutating func forgetReleased() -> [Service] {
        guard weakly != nil else { return [] }
        var living: [Service] = []
        entries = entries.filter { _, entry in
            if entry.service != nil || entry.signOuts > 0 { return true }
            guard let service = entry.released?() else { return entry.memories.contains(where: \.isOwing) }
            living.append(service)
            return true
        }
        return living
    }
}
