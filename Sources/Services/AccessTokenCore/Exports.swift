// Who links a service gets the clock, and no lock or timer.
@_exported public import protocol AccessTokenSynchronization.AccessTokenClock
@_exported public import struct AccessTokenSynchronization.AccessTokenTimer
@_exported public import struct AccessTokenSynchronization.SystemClock
