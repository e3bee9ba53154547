#if Postgres
@_exported import AccessTokenOAuth
#endif
