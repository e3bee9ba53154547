/// What a load brings, and callers are answered with.
package typealias LoadResult = Result<AccessToken, any Error>

/// The answer to all who are cancelled: an error costs an allocation each time that it is made.
package let cancellationError: any Error = CancellationError()
