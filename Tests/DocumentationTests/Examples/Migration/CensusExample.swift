import AccessTokenAdapters
import SampleShared

@testable import SampleStage3

/// Stage 3 counted: who still calls the view.
enum CensusExample {
    static func run(service: AsyncAccessTokenService, api: API, show: (CallbackCensus) -> Void) {
        let census = CallbackCensus(of: CallbackServiceView(of: service))
        let userService = UserService(tokens: census, api: api)
        for _ in 0..<3 {
            userService.user { _ in }
        }
        show(census)
    }
}
