package import AccessTokenCore

/// Says in a task inside which loads it runs: because it is one, or was started by one.
///
/// It is how a loader that asks its own service is told from every other caller (clause R1), also when it asks by
/// leading a load of another service.
package enum LoadContext {
    @TaskLocal package static var loads: [LoadID] = []
}
