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

    init(_ article: Article, _ name: String) {
        self.article = article
        self.name = name
    }
}
