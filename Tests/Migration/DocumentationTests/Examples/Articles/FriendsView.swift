#if canImport(SwiftUI)
import AccessTokenAsync
import SwiftUI

struct FriendsView: View {
    let model: FriendsModel
    @State private var friends: [String] = []
    @State private var message: String?

    var body: some View {
        List(friends, id: \.self) { Text($0) }
            .overlay { if let message { Text(message) } }
            .task { await load() }
            .refreshable { await load() }
    }

    private func load() async {
        do {
            friends = try await model.friends()
            message = nil
        } catch _ where Task.isCancelled {
            // The view has gone, and the load goes on for the others.
        } catch AccessTokenError.signedOut {
            friends = []
            message = "Please sign in."
        } catch {
            message = "Please try again."
        }
    }
}
#endif
