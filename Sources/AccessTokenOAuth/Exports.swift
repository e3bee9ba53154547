@_exported public import AccessTokenAsync
