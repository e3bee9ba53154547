import AccessTokenContract
import Dispatch
import Testing

@Suite("A census of callers")
struct CallbackCensusTests {
    let service = AccessTokenService(loader: ControlledLoader())
    let answers = Answers()

    init() { service.signIn(validToken) }

    @Test func `lists each call site with its file and line, the busiest first`() throws {
        let census = CallbackCensus(of: service)
        for _ in 0..<3 { BusyScreen(tokens: census).show() }
        QuietScreen(tokens: census).show()
        let sites = census.callSites
        try #require(sites.count == 2, "\(census)")
        #expect(sites.map(\.count) == [3, 2])
        #expect(sites.map(\.file) == [BusyScreen.file, QuietScreen.file])
        #expect(sites.map(\.line) == [BusyScreen.line, QuietScreen.line])
        #expect(sites[0].function == "BusyScreen.show()")
        #expect(
            "\(census)" == """
                calls: 5, from call sites: 2
                  3  BusyScreen.swift:11  BusyScreen.show()
                  2  QuietScreen.swift:12  closure #1 in QuietScreen.show()
                """
        )
    }

    @Test func `counts a call site once, from whatever it was reached, and on whatever thread`() async throws {
        let census = CallbackCensus(of: service)
        let screen = BusyScreen(tokens: census)
        screen.show()
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                screen.show()
                continuation.resume()
            }
        }
        await Task.detached { screen.show() }.value
        #expect(census.callSites.map(\.count) == [3], "\(census)")
    }

    @Test func `counts rejections and sign-outs, and passes everything on`() async throws {
        let census = CallbackCensus(of: service)
        census.callFromLegacyCode(then: answers.take)
        await answers.count(1)
        #expect(answers.tokens == [validToken])
        census.invalidate(validToken)
        #expect(service.currentToken == nil)
        let signedOut = Event()
        census.signOut { signedOut.happen() }
        await signedOut.wait()
        #expect(census.callSites.map(\.count) == [1, 1, 1], "\(census)")
    }

    @Test func `lists async code that was given it as well`() async throws {
        let census = CallbackCensus(of: service)
        #expect(try await census.token() == validToken)
        #expect(census.callSites.map(\.description) == ["1  async code, by token()"])
    }

    @Test func `is empty when nobody calls`() {
        #expect("\(CallbackCensus(of: service))" == "calls: 0, from call sites: 0")
    }
}
