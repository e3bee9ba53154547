@_exported public import AccessTokenAdapters
