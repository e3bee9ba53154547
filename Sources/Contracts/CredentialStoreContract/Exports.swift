@_exported import AccessTokenContract
@_exported import AccessTokenOAuth
