import Dispatch

/// Marks the queue on which handlers are promised to be called.
enum DeliveryMark {
    private static let key = DispatchSpecificKey<Bool>()

    static func set(on queue: DispatchQueue) {
        queue.setSpecific(key: key, value: true)
    }

    static var isHere: Bool {
        DispatchQueue.getSpecific(key: key) ?? false
    }
}
