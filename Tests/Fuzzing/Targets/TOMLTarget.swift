import AuthModel

@testable package import AuthConfiguration
@testable import AuthProviders

extension FuzzTarget {
    /// The scanner beside the TOML library, and the readers of profiles, settings and access rules.
    static let toml = FuzzTarget("toml", longest: 2048) { bytes throws(Violation) in
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0),
            let lines = try? KeyLines(text)
        else { return }
        if let difference = TOMLComparison.difference(lines, text) { throw Violation(difference) }
        for path in lines.paths {
            let text = TOMLPath.components(path).map { TOMLPath.text($0) }
            try require(
                text.map { Array($0.utf8) } == Array(path.utf8), "the path \(path) is read as another one")
        }
        if let profile = try? ProfileReader.read(text, source: "fuzz") {
            try require(!profile.environments.isEmpty, "a profile without environments is accepted")
            for environment in profile.environments {
                try require(Origin(of: environment.baseURL) != nil, "'\(environment.baseURL)' is accepted")
            }
        }
        _ = try? SettingsReader.read(text, source: "fuzz")
        _ = try? PolicyReader.read(text, from: .user, file: "fuzz")
    }
}

/// The scanner decides which texts the TOML library receives, so both must read a text in the same way.
package enum TOMLComparison {
    /// What only one of them has found; `nil` even if the library refuses the text: the scanner does not check everything.
    package static func difference(_ lines: KeyLines, _ text: String) -> String? {
        guard let table = try? TOMLTable(text) else { return nil }
        var paths: Set<String> = []
        collect(table, "", &paths)
        guard lines.paths != paths else { return nil }
        let (scanned, parsed) = (lines.paths.subtracting(paths), paths.subtracting(lines.paths))
        return "only the scanner: \(scanned.sorted()); only the library: \(parsed.sorted())"
    }

    private static func collect(_ table: TOMLTable, _ path: String, _ paths: inout Set<String>) {
        for key in table.keys {
            let inner = TOMLPath.join(path, key)
            paths.insert(inner)
            if let value = table[key] { collect(value, inner, &paths) }
        }
    }

    private static func collect(_ value: TOMLNode, _ path: String, _ paths: inout Set<String>) {
        if value.type == .table, let table = value.table { collect(table, path, &paths) }
        guard value.type == .array, let array = value.array else { return }
        for (index, element) in array.enumerated() {
            paths.insert(TOMLPath.element(path, index))
            collect(element, TOMLPath.element(path, index), &paths)
        }
    }
}
