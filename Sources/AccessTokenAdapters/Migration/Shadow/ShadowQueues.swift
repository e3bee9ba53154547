package import AccessTokenGCD
import Dispatch

/// The queues of a trial, all of them serial.
package struct ShadowQueues: Sendable {
    /// Gives inputs to the serving service, and passes them on to the shadow's queue.
    let serving: any SerialQueue
    let shadow: any SerialQueue
    let reports: any SerialQueue

    package init(
        serving: any SerialQueue = DispatchQueue(label: "ShadowService.serving"),
        shadow: any SerialQueue = DispatchQueue(label: "ShadowService.shadow"),
        reports: any SerialQueue = DispatchQueue(label: "ShadowService.reports")
    ) {
        self.serving = serving
        self.shadow = shadow
        self.reports = reports
    }
}
