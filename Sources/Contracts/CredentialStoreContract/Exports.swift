@_exported public import AccessTokenOAuth
@_exported public import ContractHarness
