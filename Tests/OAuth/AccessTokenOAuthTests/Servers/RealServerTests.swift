import AccessTokenOAuth
import TestSupport
import Testing

/// The suites that need servers that others wrote; one test at a time, since they count what a server was asked.
@Suite(
    "Servers that others wrote",
    .takesTurns,
    .enabled(if: !RealServer.all.isEmpty, Comment(rawValue: RealServer.command)),
    .serialized,
    .endsHangs
)
enum RealServerTests {}

/// Expects a refusal with this code.
func refuses(_ code: String, _ body: () async throws -> Void) async {
    do {
        try await body()
        Issue.record("\(code) was expected")
    } catch {
        #expect((error as? OAuthError)?.code == code)
    }
}
