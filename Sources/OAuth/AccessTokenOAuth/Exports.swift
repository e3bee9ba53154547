@_exported public import AccessTokenAsync
@_exported public import AccessTokenGCD
