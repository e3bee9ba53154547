import AccessTokenAsync

/// Uses a token as its receiver would, as far as the optimizer can tell.
@inline(never)
func use(_ token: AccessToken) -> Int {
    token.value.utf8.count
}
