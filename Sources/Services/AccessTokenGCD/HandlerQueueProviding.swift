/// A provider that says where it calls handlers.
package protocol HandlerQueueProviding {
    var handlerQueue: any SerialQueue { get }
}

extension AccessTokenService: HandlerQueueProviding {}
