@_exported public import AccessTokenCore
