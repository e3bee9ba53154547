// Compiled and run by `.ci/check-api`.
//
//   public-api DUMP
//
// Prints a dump of swift-api-digester without what is not public. A module has what the package's other modules share
// as well (`package`). The digester marks that as internal, and would compare it all the same.

import Foundation

@main
enum PublicAPI {
    static func main() throws {
        let dump = try Data(contentsOf: URL(fileURLWithPath: CommandLine.arguments[1]))
        let all = try JSONSerialization.jsonObject(with: dump)
        FileHandle.standardOutput.write(try JSONSerialization.data(withJSONObject: publicPart(of: all)))
    }

    private static func publicPart(of node: Any) -> Any {
        switch node {
        case let nodes as [Any]: nodes.filter { !isInternal($0) }.map(publicPart)
        case let fields as [String: Any]: fields.mapValues(publicPart)
        default: node
        }
    }

    private static func isInternal(_ node: Any) -> Bool {
        (node as? [String: Any])?["isInternal"] as? Bool == true
    }
}
