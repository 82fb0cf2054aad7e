import AuthClient
import AuthFiles
import AuthWire

/// A line below the registry's index in cargo's configuration, and a program with the name that the line has.
struct CargoConfiguration {
    let server: Substring
    let session: SessionName?

    func apply(remove: Bool, dryRun: Bool) throws(Failure) {
        let named = environmentValue("CARGO_HOME") ?? ""
        let path = (named.isEmpty ? try HelperScript.home() + "/.cargo" : named) + "/config.toml"
        let script = HelperScript(
            "cargo", session: session, at: "\(try HelperScript.programFolder())/\(CargoRegistries.program)")
        var text: ConfigurationText
        do throws(SystemFailure) {
            text = try ConfigurationText(path: path)
        } catch {
            throw .usage(error.description)
        }
        let registries = CargoRegistries(text.lines, at: server)
        guard !registries.found.isEmpty else {
            throw .usage(
                "\(path) has no registry at \(server)",
                hint: "add it first: [registries.NAME] with index = \"sparse+\(server)/index/\"")
        }
        if let other = registries.otherProvider {
            throw .usage("\(path) has another provider for \(server)", hint: "remove it first: \(Visible.line(other))")
        }
        do throws(SystemFailure) {
            if !remove { try script.install(dryRun: dryRun) }
            text.lines = remove ? registries.linesWithout : registries.linesWith
            if !dryRun { try text.write() }
            for header in registries.found.map(\.header) {
                Output.note("\(path): \(CargoRegistries.line) \(remove ? "removed from" : "added to") \(header)")
            }
            guard remove else { return script.noteIfNotOnPath(for: "cargo") }
            // Another registry may use it.
            let isUsed = text.lines.contains { $0.contains(CargoRegistries.program) }
            if !isUsed { try script.remove(dryRun: dryRun) }
        } catch {
            throw .usage(error.description)
        }
    }
}

/// The sections `[registries.NAME]` of cargo's configuration that have their index at one server.
struct CargoRegistries {
    struct Section {
        let header: String
        /// The number of the line with the index.
        var index: Int?
        /// The number of the line with the provider.
        var provider: Int?
    }

    static let program = "cargo-credential-authd"
    static let line = "credential-provider = \"\(program)\""

    private(set) var found: [Section] = []
    private let lines: [String]

    init(_ lines: [String], at server: Substring) {
        self.lines = lines
        var section: Section?
        for (number, line) in lines.enumerated() {
            let text = line.drop { $0 == " " || $0 == "\t" }
            if text.hasPrefix("[") {
                if let section, section.index != nil { found.append(section) }
                section = text.hasPrefix("[registries.") ? Section(header: String(text)) : nil
            } else if Self.key(of: text) == "credential-provider" {
                section?.provider = number
            } else if Self.key(of: text) == "index", Self.isIndex(text, at: server) {
                section?.index = number
            }
        }
        if let section, section.index != nil { found.append(section) }
    }

    /// A line that another program needs.
    var otherProvider: String? {
        found.compactMap(\.provider).map { lines[$0] }.first { line in
            // A list may continue on the next lines.
            !line.contains(Self.program) || line.contains("[") && !line.contains("]")
        }
    }

    var linesWith: [String] {
        let indexes = Set(found.filter { $0.provider == nil }.compactMap(\.index))
        return lines.enumerated().flatMap { indexes.contains($0.offset) ? [$0.element, Self.line] : [$0.element] }
    }

    var linesWithout: [String] {
        let providers = Set(found.compactMap(\.provider))
        return lines.enumerated().filter { !providers.contains($0.offset) }.map(\.element)
    }

    private static func key(of line: Substring) -> Substring? {
        guard let equals = line.firstIndex(of: "=") else { return nil }
        return line[..<equals].split(whereSeparator: \.isWhitespace).first
    }

    private static func isIndex(_ line: Substring, at server: Substring) -> Bool {
        let parts = line.split(omittingEmptySubsequences: false) { $0 == "\"" || $0 == "'" }
        guard parts.count >= 3 else { return false }
        let url = parts[1].hasPrefix("sparse+") ? parts[1].dropFirst("sparse+".count) : parts[1]
        return url.hasPrefix(server) && (url.count == server.count || url.dropFirst(server.count).hasPrefix("/"))
    }
}
