import Foundation

/// The values inside of a JSON object, down to a few levels, each with the names on the way to it.
///
/// A list adds no name: `{"errors":[{"code":"a"},{"code":"b"}]}` has two values at `errors.code`.
struct JSONLeaves {
    struct Leaf {
        /// Never empty; as the server spells the names.
        let path: [String]
        let value: JSONMembers.Value
        /// Which object it is a member of: lists have many of one path.
        let object: Int

        var name: String { path[path.count - 1] }
    }

    /// No server explains itself deeper than that, or at greater length.
    private static let deepest = 5
    private static let most = 200

    private(set) var all: [Leaf] = []

    /// In an order that does not change from one run to the next: the nearest first, then by name.
    init(of members: JSONMembers) {
        var level = [(path: [String](), members: members)]
        var object = 0
        while !level.isEmpty {
            var next: [(path: [String], members: JSONMembers)] = []
            for (path, members) in level {
                for name in members.names.sorted() {
                    if let value = members[name] { add(value, at: path + [name], of: object, &next) }
                }
                object += 1
            }
            level = next
        }
    }

    private mutating func add(
        _ value: JSONMembers.Value,
        at path: [String],
        of object: Int,
        _ next: inout [(path: [String], members: JSONMembers)]
    ) {
        guard all.count < Self.most else { return }
        guard case .structure(let json) = value else {
            all.append(Leaf(path: path, value: value, object: object))
            return
        }
        guard path.count < Self.deepest, next.count < Self.most else { return }
        if let members = JSONMembers(of: Data(json.utf8)) {
            next.append((path, members))
        } else {
            for element in JSONMembers.elements(of: json).prefix(Self.most) {
                if case .structure(let json) = element {
                    if let members = JSONMembers(of: Data(json.utf8)) { next.append((path, members)) }
                } else {
                    add(element, at: path, of: object, &next)
                }
            }
        }
    }
}
