import AccessTokenAsync
import AccessTokenOAuth

/// One of many accounts, with a valid token.
enum AccountRow {
    static func all(isQuick: Bool) -> [Comparison] {
        [1, 1_000].map { comparison(accounts: $0, rounds: isQuick ? 31 : 101) }
            + (isQuick ? [1, 1_000] : [1, 10, 100, 1_000, 10_000, 100_000]).map(growth)
    }

    static let one = "one account by its name"
    /// Each call finds other memory.
    static let each = "one after the other"

    /// The cost of one account by the number of accounts: a curve without a target.
    private static func growth(accounts count: Int) -> Comparison {
        let snapshot = MutexSnapshot(.valid)
        let names = (1...count).map { "account \($0)" }
        return Comparison(
            row: "i",
            title: "accounts",
            count: count,
            rounds: count > 10_000 ? 3 : 11,
            contenders: [
                Contender(HitRows.base) { repeated { snapshot.token() } },
                Contender(one) {
                    let accounts = filled(with: names)
                    let name = names[count / 2]
                    return repeated { accounts.service(for: name).currentToken }
                },
                Contender(each) {
                    let accounts = filled(with: names)
                    var call = 0
                    return repeated(max(count, HitRows.calls)) {
                        call += 1
                        return accounts.service(for: names[call % count]).currentToken
                    }
                },
            ]
        )
    }

    private static func filled(with names: [String]) -> AccessTokenAccounts<String, AsyncAccessTokenService> {
        let accounts = AccessTokenAccounts<String, AsyncAccessTokenService> { _ in
            .signedIn()
        }
        for name in names { _ = accounts.service(for: name) }
        return accounts
    }

    private static func comparison(accounts count: Int, rounds: Int) -> Comparison {
        let snapshot = MutexSnapshot(.valid)
        let accounts = filled(with: (1...count).map { "account \($0)" })
        let own = accounts.service(for: "account 1")
        return Comparison(
            row: "i",
            title: count == 1 ? "the only account" : "one of \(count) accounts",
            rounds: rounds,
            contenders: [
                Contender(HitRows.base) { repeated { snapshot.token() } },
                Contender("account's service in hand") { repeated { own.currentToken } },
                Contender("account by its name") {
                    repeated { accounts.service(for: "account 1").currentToken }
                },
            ],
            goals: [
                .time(of: "account's service in hand", to: HitRows.base, atMost: 1.5),
                .time(of: "account by its name", to: HitRows.base, atMost: 4),
            ]
        )
    }

    @inline(__always)
    private static func repeated(_ calls: Int = HitRows.calls, _ token: () -> AccessToken?) -> Sample {
        var length = 0
        let watch = Stopwatch()
        for _ in 0..<calls { length += token().map(use) ?? 0 }
        let sample = watch.sample(per: calls)
        precondition(length > 0, "no call was answered")
        return sample
    }
}
