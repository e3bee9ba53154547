import InterleavingExplorer

/// All exhibits, in the order in which they are shown.
@available(Executors, *)
enum Gallery {
    static let exhibits = [
        GuardingQueue.exhibit,
        AuthenticationService.exhibit,
        OAuthProcessor.exhibit,
        RejectedToken.exhibit,
        BankAccount.exhibit,
        Rollback.exhibit,
        StateChanged.exhibit,
        ContinuationLock.exhibit,
        ImageCache.exhibit,
        WorkOutside.exhibit,
        Wallet.exhibit,
        OrderedLog.exhibit,
        CheckAndUse.exhibit,
        CancelledWaiter.exhibit,
        WakeOrder.exhibit,
        SignOut.exhibit,
        PinnedExecutor.exhibit,
        CallBack.exhibit,
    ]
}

/// One system of the articles: a scenario, and the versions of the system that are put to it.
@available(Executors, *)
struct Exhibit: Sendable {
    /// The name on the command line.
    let name: String
    let title: String
    /// What happens, and why it is hard.
    let story: String
    /// What must hold under every schedule.
    let invariants: [String]
    var versions: [Version]
}

/// One way to write the system of an exhibit.
@available(Executors, *)
struct Version: Sendable {
    /// The name on the command line.
    let name: String
    /// What it does, in a few words.
    let summary: String
    /// Where its code is.
    let code: Code
    /// The listings of articles that it is, if it is one.
    var listings: [Listing] = []
    /// Without a fault, it can be recommended.
    var fault: Fault?
    let scenario: Scenario

    var breaks: String? {
        guard case .breaks(let invariant, _) = fault else { return nil }
        return invariant
    }

    var unseenFault: String? {
        guard case .unseen(let fault, _) = fault else { return nil }
        return fault
    }

    var repair: String? {
        switch fault {
        case .breaks(_, let repair), .unseen(_, let repair): repair
        case nil: nil
        }
    }
}

/// What is wrong with a version, and the version that mends it: the name of its exhibit, and its own.
enum Fault: Sendable {
    /// An invariant that it breaks, or the kind of failure.
    case breaks(String, repair: String)
    /// A fault that the explorer cannot see: the version holds.
    case unseen(String, repair: String)
}

/// The type or the function that a version is, and its file among the exhibits.
struct Code: Sendable, CustomStringConvertible {
    /// The folder of all files, by its path from the package's root.
    static let folder = "Sources/Exploring/RaceGallery/Exhibits"

    let name: String
    let file: String

    init(_ name: String, in file: String) {
        self.name = name
        self.file = "\(file).swift"
    }

    var description: String { "\(name), in \(file)" }
}

/// The articles whose listings are in the gallery, by their titles.
enum Article: String, CaseIterable, Sendable {
    case accessTokenService = "Avoiding race conditions in Swift"
    case reentrancy = "Advanced Swift Actors: Re-entrancy & Interleaving"
    case oauthClient = "Designing OAuth client with Swift Actors"
    case strategies = "Strategies for dealing with Swift actor data races"
    case raceConditions = "Swift Actor Reentrancy and Race Conditions"
}

/// A listing of an article, written again: the same structure, the same order of steps and the same bug.
struct Listing: Sendable {
    let article: Article
    /// The article's own name for it.
    let name: String
}

/// Shows the reader of a trace what happens at this point of an exhibit.
///
/// Outside an exploration it does nothing.
func note(_ text: @autoclosure () -> String) {
    if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
        ScheduledRun.current?.note(text())
    }
}

/// Marks something that is visible without entering an actor: an invariant can judge it.
func effect(_ text: String) {
    if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
        ScheduledRun.current?.effect(text)
    }
}
