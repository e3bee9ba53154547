import Foundation
import InterleavingExplorer

/// All exhibits, in the order in which they are shown.
@available(Executors, *)
enum Gallery {
    static let exhibits = [
        CallbackService.exhibit,
        BankAccount.exhibit,
        Rollback.exhibit,
        StateChanged.exhibit,
        AsyncMutex.exhibit,
        Wallet.exhibit,
        OrderedLog.exhibit,
        ImageCache.exhibit,
        DataCache.exhibit,
        SharedTask.exhibit,
        CheckAndUse.exhibit,
        CancelledWaiter.exhibit,
        WakeOrder.exhibit,
        OAuthProcessor.exhibit,
        SignOut.exhibit,
        PinnedExecutor.exhibit,
        CallBack.exhibit,
        WorkOutside.exhibit,
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
    let versions: [Version]
    /// The file of its code, by the path from the package's root.
    let file: String

    init(
        name: String,
        title: String,
        story: String,
        invariants: [String],
        versions: [Version],
        file: String = #filePath
    ) {
        self.name = name
        self.title = title
        self.story = story
        self.invariants = invariants
        self.versions = versions
        let sources = file.range(of: "Sources/Exploring/RaceGallery/", options: .backwards)
        self.file = sources.map { String(file[$0.lowerBound...]) } ?? file
    }
}

/// One way to write the system of an exhibit.
@available(Executors, *)
struct Version: Sendable {
    enum Origin: String, Sendable {
        case faulty
        case fix
        /// It has been published or is commonly given as a fix, and still breaks.
        case wrongFix = "wrong fix"
    }

    /// The name on the command line.
    let name: String
    let origin: Origin
    /// What it does, in a few words.
    let summary: String
    /// The invariant, or the kind of failure, that it is expected to break; `nil` if it is expected to hold.
    let breaks: String?
    /// The fault of a version that holds, if it has one that the explorer cannot see.
    var unseenFault: String?
    let scenario: Scenario

    static func faulty(_ name: String, breaks: String, _ summary: String, _ scenario: Scenario) -> Version {
        Version(name: name, origin: .faulty, summary: summary, breaks: breaks, scenario: scenario)
    }

    static func unseen(_ name: String, _ fault: String, _ summary: String, _ scenario: Scenario) -> Version {
        Version(name: name, origin: .faulty, summary: summary, breaks: nil, unseenFault: fault, scenario: scenario)
    }

    static func wrongFix(_ name: String, breaks: String, _ summary: String, _ scenario: Scenario) -> Version {
        Version(name: name, origin: .wrongFix, summary: summary, breaks: breaks, scenario: scenario)
    }

    static func fix(_ name: String, _ summary: String, _ scenario: Scenario) -> Version {
        Version(name: name, origin: .fix, summary: summary, breaks: nil, scenario: scenario)
    }
}

/// Shows the reader of a diagram what happens at this point of an exhibit.
///
/// Outside an exploration it does nothing.
func note(_ text: @autoclosure () -> String) {
    if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
        ScenarioRun.current?.note(text())
    }
}

/// Marks something that is visible without entering an actor, so that an invariant can judge it.
func effect(_ text: String) {
    if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
        ScenarioRun.current?.effect(text)
    }
}
