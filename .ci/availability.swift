// Compiled and run by `.ci/check-availability`, with the SwiftSyntax and the index reader of the toolchain.
//
//   availability MINIMUMS SYMBOL-GRAPHS INDEX-STORE FOLDER
//
// Prints each use in FOLDER of a symbol that one of Apple's platforms has had only since a version after MINIMUMS ("iOS
// 15, macOS 12"), unless the use stands inside `@available` or `#available` of that version, or inside code that is
// compiled for other platforms only. The platforms' modules for Linux keep these versions, so Linux can tell.

import Foundation
import SwiftParser
import SwiftSyntax

/// The version of each platform that a symbol needs, a scope guarantees, or the package starts from.
struct Versions: CustomStringConvertible {
    static let platforms = ["iOS", "macOS", "tvOS", "watchOS", "visionOS"]
    var byPlatform: [String: Double] = [:]

    init() {}

    /// Reads "iOS 18, macOS 15, *", also with the names of the package's own availability macros.
    init(_ text: String, macros: [String: String] = [:]) {
        for part in text.split(separator: ",") {
            let words = part.split(whereSeparator: \.isWhitespace)
            if let macro = macros[String(words.first ?? "")] {
                byPlatform.merge(Versions(macro).byPlatform) { max($0, $1) }
            } else if words.count == 2, Self.platforms.contains(String(words[0])), let version = Double(words[1]) {
                byPlatform[String(words[0])] = version
            }
        }
    }

    /// Whether code that runs on these versions may use a symbol that needs `other`.
    func cover(_ other: Versions) -> Bool {
        other.byPlatform.allSatisfy { platform, version in version <= byPlatform[platform] ?? 0 }
    }

    func merging(_ other: Versions) -> Versions {
        var merged = self
        merged.byPlatform.merge(other.byPlatform) { max($0, $1) }
        return merged
    }

    var description: String {
        Self.platforms.compactMap { platform in
            byPlatform[platform].map { "\(platform) \($0 == $0.rounded() ? "\(Int($0))" : "\($0)")" }
        }
        .joined(separator: ", ")
    }
}

/// A printed symbol graph, as far as it matters here.
struct SymbolGraph: Decodable {
    struct Symbol: Decodable {
        struct Identifier: Decodable { let precise: String }
        struct Availability: Decodable {
            struct Version: Decodable {
                let major: Int
                let minor: Int?
            }
            let domain: String?
            let introduced: Version?
        }
        let identifier: Identifier
        let availability: [Availability]?
    }
    let symbols: [Symbol]

    /// What the symbols in a folder's graphs need, by their identifiers.
    static func versions(in folder: String) throws -> [String: Versions] {
        var result: [String: Versions] = [:]
        for file in try FileManager.default.contentsOfDirectory(atPath: folder) where file.hasSuffix(".json") {
            let data = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(file)"))
            for symbol in try JSONDecoder().decode(SymbolGraph.self, from: data).symbols {
                var versions = Versions()
                for availability in symbol.availability ?? [] {
                    guard let domain = availability.domain, Versions.platforms.contains(domain) else { continue }
                    versions.byPlatform[domain] = availability.introduced.map { version in
                        Double("\(version.major).\(version.minor ?? 0)") ?? 0
                    }
                }
                result[symbol.identifier.precise] = versions
            }
        }
        return result
    }
}

/// The scopes of a file that guarantee a version, or that Apple's platforms do not compile.
final class Scopes: SyntaxAnyVisitor {
    struct Scope {
        let range: Range<AbsolutePosition>
        let versions: Versions
        /// Whether the versions are those of a declaration, whose users need them too.
        let isDeclaration: Bool
    }

    private(set) var scopes: [Scope] = []
    private(set) var elsewhere: [Range<AbsolutePosition>] = []
    private let macros: [String: String]
    private let converter: SourceLocationConverter

    init(of path: String, macros: [String: String]) throws {
        self.macros = macros
        let tree = Parser.parse(source: try String(contentsOfFile: path, encoding: .utf8))
        converter = SourceLocationConverter(fileName: path, tree: tree)
        super.init(viewMode: .sourceAccurate)
        walk(tree)
    }

    func position(line: UInt32, column: UInt32) -> AbsolutePosition {
        converter.position(ofLine: Int(line), column: Int(column))
    }

    /// What is guaranteed at a position, by declarations alone if asked.
    func versions(at position: AbsolutePosition, ofDeclarations: Bool = false) -> Versions {
        scopes.filter { $0.range.contains(position) && ($0.isDeclaration || !ofDeclarations) }
            .reduce(Versions()) { $0.merging($1.versions) }
    }

    func isElsewhere(_ position: AbsolutePosition) -> Bool {
        elsewhere.contains { $0.contains(position) }
    }

    override func visitAny(_ node: Syntax) -> SyntaxVisitorContinueKind {
        if let attributed = node.asProtocol((any WithAttributesSyntax).self) {
            for case .attribute(let attribute) in attributed.attributes
            where attribute.attributeName.trimmedDescription == "available" {
                let versions = Versions(attribute.arguments?.trimmedDescription ?? "", macros: macros)
                scopes.append(Scope(range: node.range, versions: versions, isDeclaration: true))
            }
        }
        if let condition = node.as(AvailabilityConditionSyntax.self) { enter(condition) }
        if let ifConfig = node.as(IfConfigDeclSyntax.self) { enter(ifConfig) }
        return .visitChildren
    }

    private func enter(_ condition: AvailabilityConditionSyntax) {
        guard condition.availabilityKeyword.text == "#available" else { return }
        let versions = Versions(condition.availabilityArguments.trimmedDescription, macros: macros)
        var parent = condition.parent
        while let node = parent {
            if let statement = node.as(IfExprSyntax.self) {
                let range = condition.endPosition..<statement.body.endPosition
                return scopes.append(Scope(range: range, versions: versions, isDeclaration: false))
            }
            if let statement = node.as(GuardStmtSyntax.self) {
                // All that follows in the same block, and no part of the `else`.
                let block = statement.parent?.parent?.parent ?? Syntax(statement)
                let range = statement.endPosition..<max(block.endPosition, statement.endPosition)
                return scopes.append(Scope(range: range, versions: versions, isDeclaration: false))
            }
            parent = node.parent
        }
    }

    private func enter(_ ifConfig: IfConfigDeclSyntax) {
        var isDecided = false
        for clause in ifConfig.clauses {
            let holds = isDecided ? false : clause.condition.map(Self.holdsOnApple) ?? true
            if !holds { elsewhere.append(clause.range) }
            isDecided = isDecided || clause.condition.map(Self.isApple) ?? false
        }
    }

    /// Whether a condition can hold on one of Apple's platforms.
    private static func holdsOnApple(_ condition: ExprSyntax) -> Bool {
        let text = condition.trimmedDescription
        if text.contains("||") {
            return text.components(separatedBy: "||").contains { !isElsewhere($0) }
        }
        return !text.components(separatedBy: "&&").contains(where: isElsewhere)
    }

    private static func isElsewhere(_ text: String) -> Bool {
        let text = text.filter { !$0.isWhitespace }
        let others = ["Glibc", "Musl", "Android", "FoundationNetworking", "FoundationEssentials"].map {
            "canImport(\($0))"
        }
        return (others + ["os(Linux)", "!canImport(Darwin)"]).contains(text)
    }

    /// Whether a condition holds on each of Apple's platforms: no later clause is compiled there then.
    private static func isApple(_ condition: ExprSyntax) -> Bool {
        let text = condition.trimmedDescription
        return ["canImport(Darwin)", "canImport(os)", "canImport(ObjectiveC)", "!canImport(FoundationNetworking)"]
            .contains {
                text == $0 || text.hasPrefix("\($0) ||")
            }
    }
}

/// The index that the compiler writes beside each build.
struct Index {
    struct Occurrence {
        let usr: String
        let name: String
        let isDefinition: Bool
        /// A witness that a protocol's default is taken for is an occurrence too, and no reference.
        let isReference: Bool
        /// Whether the compiler, and not the source, names it.
        let isImplicit: Bool
        let line: UInt32
        let column: UInt32
    }

    private let store: indexstore_t

    init(_ path: String) throws {
        guard let store = indexstore_store_create(path, nil) else {
            throw Failure(description: "there is no index at \(path): swift build writes it")
        }
        self.store = store
    }

    /// The record of each source file that still exists; a file that declares and uses nothing has none.
    func records() -> [(file: String, record: String?)] {
        let units = collected(String.self) { context in
            indexstore_store_units_apply_f(store, 0, context) { context, name in
                Collected<String>.append(text(name), to: context)
            }
        }
        return units.compactMap { unit -> (String, String?)? in
            guard let reader = indexstore_unit_reader_create(store, unit, nil) else { return nil }
            defer { indexstore_unit_reader_dispose(reader) }
            let main = text(indexstore_unit_reader_get_main_file(reader))
            guard FileManager.default.fileExists(atPath: main) else { return nil }
            let records = collected((String, String).self) { context in
                indexstore_unit_reader_dependencies_apply_f(reader, context) { context, dependency in
                    guard indexstore_unit_dependency_get_kind(dependency) == INDEXSTORE_UNIT_DEPENDENCY_RECORD else {
                        return true
                    }
                    let file = text(indexstore_unit_dependency_get_filepath(dependency))
                    let record = text(indexstore_unit_dependency_get_name(dependency))
                    return Collected<(String, String)>.append((file, record), to: context)
                }
            }
            return (main, records.first { $0.0 == main }?.1)
        }
    }

    func occurrences(in record: String) -> [Occurrence] {
        guard let reader = indexstore_record_reader_create(store, record, nil) else { return [] }
        defer { indexstore_record_reader_dispose(reader) }
        return collected(Occurrence.self) { context in
            indexstore_record_reader_occurrences_apply_f(reader, context) { context, occurrence in
                let symbol = indexstore_occurrence_get_symbol(occurrence)
                let roles = indexstore_occurrence_get_roles(occurrence)
                var (line, column): (UInt32, UInt32) = (0, 0)
                indexstore_occurrence_get_line_col(occurrence, &line, &column)
                let found = Occurrence(
                    usr: text(indexstore_symbol_get_usr(symbol)),
                    name: text(indexstore_symbol_get_name(symbol)),
                    isDefinition: roles & UInt64(INDEXSTORE_SYMBOL_ROLE_DEFINITION) != 0,
                    isReference: roles & UInt64(INDEXSTORE_SYMBOL_ROLE_REFERENCE) != 0,
                    isImplicit: roles & UInt64(INDEXSTORE_SYMBOL_ROLE_IMPLICIT) != 0,
                    line: line,
                    column: column
                )
                return Collected<Occurrence>.append(found, to: context)
            }
        }
    }
}

/// What a callback in C collects.
private final class Collected<Element> {
    var elements: [Element] = []

    static func append(_ element: Element, to context: UnsafeMutableRawPointer?) -> Bool {
        if let context { Unmanaged<Collected>.fromOpaque(context).takeUnretainedValue().elements.append(element) }
        return true
    }
}

private func collected<Element>(_: Element.Type, _ apply: (UnsafeMutableRawPointer) -> Bool) -> [Element] {
    let collected = Collected<Element>()
    _ = apply(Unmanaged.passUnretained(collected).toOpaque())
    return collected.elements
}

private func text(_ reference: indexstore_string_ref_t) -> String {
    String(decoding: UnsafeRawBufferPointer(start: reference.data, count: reference.length), as: UTF8.self)
}

/// The package's own availability macros, from its manifest.
func macros(in manifest: String) -> [String: String] {
    let text = (try? String(contentsOfFile: manifest, encoding: .utf8)) ?? ""
    return Dictionary(
        text.matches(of: /AvailabilityMacro=(\w+)[^:"]*:\s*([^"]+)"/).map { (String($0.1), String($0.2)) },
        uniquingKeysWith: { $1 }
    )
}

struct Failure: Error, CustomStringConvertible {
    let description: String
}

@main
enum Availability {
    /// Symbols whose versions on Linux are not those of Apple's platforms, with the reason.
    static let exceptions = [
        // String.data(using:): Foundation has had it since iOS 2. FoundationEssentials says iOS 18, and is no module
        // there.
        "s:SS20FoundationEssentialsE4data5using20allowLossyConversionAA4DataVSgSSAAE8EncodingV_SbtF"
    ]

    static func main() {
        do {
            let isClean = try check(CommandLine.arguments)
            exit(isClean ? 0 : 1)
        } catch {
            print("availability: \(error)")
            exit(2)
        }
    }

    static func check(_ arguments: [String]) throws -> Bool {
        guard arguments.count == 5 else { throw Failure(description: "four arguments, as the first lines here say") }
        let minimums = Versions(arguments[1])
        let needs = try SymbolGraph.versions(in: arguments[2]).filter { !minimums.cover($0.value) }
        let index = try Index(arguments[3])
        let folder = URL(fileURLWithPath: arguments[4]).standardizedFileURL.path + "/"
        let macros = macros(in: "Package.swift")

        let files = try index.records().filter { $0.file.hasPrefix(folder) }.sorted { $0.file < $1.file }
            .map {
                (
                    path: $0.file, scopes: try Scopes(of: $0.file, macros: macros),
                    all: $0.record.map(index.occurrences) ?? []
                )
            }
        // Nothing can be said of a file that the index does not know.
        let known = Set(files.map(\.path))
        for path in FileManager.default.enumerator(atPath: arguments[4])?.compactMap({ $0 as? String }) ?? []
        where path.hasSuffix(".swift") && !known.contains(folder + path) {
            throw Failure(description: "the index does not know \(arguments[4])/\(path): swift build")
        }

        // Our own declarations need what their `@available` says.
        var all = needs
        for file in files {
            for occurrence in file.all where occurrence.isDefinition {
                let position = file.scopes.position(line: occurrence.line, column: occurrence.column)
                let versions = file.scopes.versions(at: position, ofDeclarations: true)
                if !minimums.cover(versions) { all[occurrence.usr] = versions }
            }
        }
        var seen: Set<String> = []
        for file in files {
            for occurrence in file.all where occurrence.isReference {
                // `for await` takes the older `next()` where a platform lacks this one.
                if occurrence.isImplicit && occurrence.name == "next(isolation:)" { continue }
                guard let needed = all[occurrence.usr], !exceptions.contains(occurrence.usr) else { continue }
                let position = file.scopes.position(line: occurrence.line, column: occurrence.column)
                guard !file.scopes.isElsewhere(position),
                    !minimums.merging(file.scopes.versions(at: position)).cover(needed)
                else { continue }
                let path = file.path.dropFirst(FileManager.default.currentDirectoryPath.count + 1)
                let line =
                    "\(path):\(occurrence.line):\(occurrence.column): error: '\(occurrence.name)' needs \(needed)"
                if seen.insert(line).inserted { print(line) }
            }
        }
        return seen.isEmpty
    }
}
