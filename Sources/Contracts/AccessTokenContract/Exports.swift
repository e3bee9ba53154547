@_exported public import AccessTokenAdapters
@_exported public import ContractHarness
