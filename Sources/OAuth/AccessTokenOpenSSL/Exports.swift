#if OpenSSL
@_exported import AccessTokenOAuth
#endif
