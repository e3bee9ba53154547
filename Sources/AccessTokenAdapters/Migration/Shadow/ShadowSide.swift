/// One of two services on trial, since both came to rest the last time.
struct ShadowSide {
    var epoch = 0
    var loadsInEpoch = 0
    var loads = 0
    /// Loads that it wanted and was given no answer of.
    var openLoads = 0
    /// The answers of loads that it was given.
    var results = 0
    /// Calls that it was given and has not answered.
    var unanswered: Set<Int> = []
    /// Those among them that came before the last answer of a load.
    var undigested: Set<Int> = []
    /// It was given a load's answer while nobody waited, so that nobody can tell when it has digested it.
    var isUnknown = false

    /// Says that it has digested all answers of loads.
    var isSettled: Bool { undigested.isEmpty && !isUnknown }

    /// The answer of a load of a former session is none that a service has to digest: it must not matter.
    mutating func giveResult(of load: ShadowLoad) {
        openLoads -= 1
        guard load.epoch == epoch else { return }
        results += 1
        undigested = unanswered
        isUnknown = unanswered.isEmpty
    }

    mutating func answered(_ call: Int) {
        unanswered.remove(call)
        undigested.remove(call)
        isUnknown = false
    }

    mutating func startLoad() -> ShadowLoad {
        defer {
            loadsInEpoch += 1
            loads += 1
            openLoads += 1
        }
        isUnknown = false
        return ShadowLoad(epoch: epoch, index: loadsInEpoch)
    }

    mutating func beginSession() {
        epoch += 1
        loadsInEpoch = 0
    }
}

/// A load by its place, which is how the load of one service is known as that of the other: the first, second, … since
/// both came to rest or a session began.
struct ShadowLoad: Hashable {
    let epoch: Int
    let index: Int
}
