/// What a load brings, and callers are answered with.
package typealias LoadResult = Result<AccessToken, any Error>
