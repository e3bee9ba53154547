/// Says in a task which services are waiting for what it does, because it is a load of theirs or was started by one.
///
/// It is how a loader that asks its own service is told from every other caller (clause R1), also when it asks by
/// way of another service.
package enum LoadContext {
    @TaskLocal package static var services: [ObjectIdentifier] = []

    package static func isLoad(of service: AnyObject) -> Bool {
        services.contains(ObjectIdentifier(service))
    }

    package static func adding(_ service: ObjectIdentifier) -> [ObjectIdentifier] {
        services + [service]
    }
}
