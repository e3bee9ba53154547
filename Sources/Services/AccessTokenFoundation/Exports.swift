// The part of Foundation that the services need; on Linux it makes a static program a quarter as large as all of it
// would.
#if canImport(FoundationEssentials)
@_exported public import FoundationEssentials
#else
@_exported public import Foundation
#endif
