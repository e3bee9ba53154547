import Foundation
package import Testing

/// How much the tests try: `swift test` what finds most for its seconds, `.ci/deep thorough` all of it.
package enum Effort {
    package static let isThorough = ProcessInfo.processInfo.environment["THOROUGH"] != nil
}

extension Trait where Self == ConditionTrait {
    /// For what takes seconds, and seldom finds what the other tests do not.
    package static var thorough: ConditionTrait {
        .enabled(if: Effort.isThorough, "It takes long and seldom finds more: .ci/deep thorough")
    }
}

extension Collection {
    /// One of so many, and in `.ci/deep thorough` all.
    package func oneOf(_ parts: Int) -> [Element] {
        enumerated().filter { Effort.isThorough || $0.offset % parts == 0 }.map(\.element)
    }
}
