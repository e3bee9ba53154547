import AccessTokenContract
import Testing

private let features: ContractFeatures = [
    .expiry, .leeway, .refreshAhead, .invalidation, .signOut, .signIn, .cancellation, .loadDeadline, .currentToken,
    .deliveryQueue, .callbackLoader,
]

private let tokensSubject = ContractSubject("our tokens", features: features) { fixture in
    let service = AsyncAccessTokenService(
        loader: AsyncLoaderView(of: fixture.loader),
        policy: fixture.policy,
        clock: fixture.clock
    )
    let view = CallbackServiceView(of: service, queue: fixture.queue)
    return .callback(view, signIn: { await service.signIn($0) }, currentToken: { service.currentToken })
}

@Suite("What our tokens keep of the contract")
struct TokensContractTests {
    @Test func `breaks nothing`() async {
        let report = await AccessTokenContract.verify(tokensSubject)
        #expect(report.isKept, "\(report)")
    }
}
