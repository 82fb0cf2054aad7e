import AuthWire

/// A line below the registry's index in cargo's configuration, and the program that the line names.
struct CargoConfiguration {
    let server: Substring
    let session: SessionName?

    private var program: String { "cargo-credential-authd" + (session.map { "-\($0)" } ?? "") }
    private var line: String { "\(CargoRegistries.providerKey) = \"\(program)\"" }

    func apply(remove: Bool, dryRun: Bool) throws(Failure) {
        let script = HelperScript("cargo", session: session, at: "\(try HelperScript.programFolder())/\(program)")
        var text = try ConfigurationText(
            path: try ConfigurationFile.path("config.toml", in: "CARGO_HOME", else: ".cargo"))
        let registries = CargoRegistries(text.lines, at: server, program: program)
        if let other = registries.otherProvider {
            throw .usage(
                "\(text.path) has another provider for \(server)", hint: "remove it first: \(Visible.line(other))")
        }
        let change = ConfigurationChange(line: line, isRemoval: remove)
        guard !remove else {
            text.remove(Set(registries.withProvider.compactMap(\.provider)))
            try write(text, change, in: registries.withProvider, dryRun: dryRun)
            // Another registry may use it.
            guard CargoRegistries.isNamed(program, in: text.lines) else { return try script.remove(dryRun: dryRun) }
            return Output.note("\(script.path) is still in use, and was not removed")
        }
        guard !registries.found.isEmpty else { throw missing(in: text) }
        try script.install(dryRun: dryRun)
        for number in registries.withoutProvider.compactMap(\.index).reversed() { text.insert(line, after: number) }
        try write(text, change, in: registries.withoutProvider, dryRun: dryRun)
        script.noteIfNotOnPath(for: "cargo")
    }

    private func write(
        _ text: ConfigurationText, _ change: ConfigurationChange, in changed: [CargoRegistries.Section], dryRun: Bool
    ) throws(Failure) {
        guard !changed.isEmpty else {
            return Output.note("\(text.path) \(change.isRemoval ? "does not name" : "already names") \(program)")
        }
        try text.write(change, dryRun: dryRun)
        let action = change.isRemoval ? "removed from" : "added to"
        for section in changed {
            Output.note("\(text.path): \(line) \(action) \(Visible.line(section.header))")
        }
    }

    private func missing(in text: ConfigurationText) -> Failure {
        guard !CargoRegistries.isAddress(server, in: text.lines) else {
            return .usage(
                "the registry is not in a separate table [registries.NAME]: add the line `\(line)` to it yourself")
        }
        return .usage(
            "\(text.path) has no registry at \(server)",
            hint: "add it first: [registries.NAME] with index = \"sparse+\(server)/index/\"")
    }
}

/// The tables `[registries.NAME]` of cargo's configuration that have their index at one server.
struct CargoRegistries {
    struct Section {
        let header: String
        /// The number of the line with the index.
        var index: Int?
        /// The number of the line with the provider.
        var provider: Int?
    }

    static let providerKey = "credential-provider"

    private(set) var found: [Section] = []
    private let lines: [String]
    private let program: String

    /// - Parameter program: the provider that is looked for.
    init(_ lines: [String], at server: Substring, program: String) {
        self.lines = lines
        self.program = program
        var section: Section?
        for (number, line) in lines.enumerated() {
            let text = ConfigurationText.content(of: line)
            if text.hasPrefix("[") {
                if let section, section.index != nil { found.append(section) }
                section = text.hasPrefix("[registries.") ? Section(header: String(text)) : nil
            } else if Self.key(of: text) == Self.providerKey {
                section?.provider = number
            } else if Self.key(of: text) == "index", Self.isIndex(text, at: server) {
                section?.index = number
            }
        }
        if let section, section.index != nil { found.append(section) }
    }

    var withProvider: [Section] { found.filter { $0.provider != nil } }
    var withoutProvider: [Section] { found.filter { $0.provider == nil } }

    /// The first line that names another provider.
    var otherProvider: String? {
        found.compactMap(\.provider).map { lines[$0] }.first { line in
            // A list may continue on the next lines.
            Self.value(of: line[...]).map(String.init) != program || line.contains("[") && !line.contains("]")
        }
    }

    /// Whether any registry has this provider.
    static func isNamed(_ program: String, in lines: [String]) -> Bool {
        lines.contains { line in
            !ConfigurationText.content(of: line).hasPrefix("#")
                && line.split(omittingEmptySubsequences: false, whereSeparator: isQuote).contains(program[...])
        }
    }

    /// Whether a server occurs anywhere.
    static func isAddress(_ server: Substring, in lines: [String]) -> Bool {
        lines.contains { line in
            !ConfigurationText.content(of: line).hasPrefix("#")
                && line.ranges(of: server).contains { range in
                    line[range.upperBound...].first.map { $0 == "/" || isQuote($0) } ?? true
                }
        }
    }

    private static func isQuote(_ character: Character) -> Bool { character == "\"" || character == "'" }

    /// A key may be in quotes.
    private static func key(of line: Substring) -> String? {
        guard let equals = line.firstIndex(of: "=") else { return nil }
        return line[..<equals].split { $0.isWhitespace || isQuote($0) }.first.map(String.init)
    }

    /// The first string after the equals sign.
    private static func value(of line: Substring) -> Substring? {
        guard let equals = line.firstIndex(of: "=") else { return nil }
        let parts = line[equals...].split(omittingEmptySubsequences: false, whereSeparator: isQuote)
        return parts.count >= 3 ? parts[1] : nil
    }

    private static func isIndex(_ line: Substring, at server: Substring) -> Bool {
        guard let value = value(of: line) else { return false }
        let url = value.hasPrefix("sparse+") ? value.dropFirst("sparse+".count) : value
        return url.hasPrefix(server) && (url.count == server.count || url.dropFirst(server.count).hasPrefix("/"))
    }
}
