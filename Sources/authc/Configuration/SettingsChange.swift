import AuthConfiguration
import AuthWire

/// Changes settings: read, changed, checked, written, reloaded.
struct SettingsChange {
    let file: SettingsFile
    let options: Options

    /// Sets all of them with one write and one reload.
    /// - Parameter settings: one or more.
    func set(_ settings: [(key: String, values: [String])]) throws(Failure) -> ExitStatus {
        var literals: [(path: [TOMLPath.Component], text: String)] = []
        for (key, values) in settings {
            let path = try SettingName.path(key, allowsTables: false)
            guard let setting = SettingKey.matching(path) else { throw .internalError(key) }
            guard let literal = setting.literal(values) else {
                throw .usage(
                    "\(TOMLPath.text(path)): expected \(setting.expected)",
                    hint: NameAdvice.meant(values.joined(separator: " "), among: SettingName.values(of: setting)))
            }
            literals.append((path, literal))
        }
        return try perform(literals[0].path) { text throws(TOMLText.Refusal) in
            for literal in literals { try text.set(literal.path, to: literal.text) }
        }
    }

    func perform(
        _ path: [TOMLPath.Component], _ change: (inout TOMLText) throws(TOMLText.Refusal) -> Void
    ) throws(Failure) -> ExitStatus {
        let name = TOMLPath.text(path)
        // A change that is refused leaves nothing behind.
        let missing = MissingFolders.list(for: file.path)
        defer { MissingFolders.removeEmpty(missing, options) }
        let lock = try file.lock()
        let origin = file.origin
        let before = try file.base()
        var text = try SettingsFile.parse(before, file.pathInUse)
        do throws(TOMLText.Refusal) {
            _ = try change(&text)
        } catch {
            throw refusal(error, name)
        }
        if text.text == before { return try unchanged() }
        let problems = try SettingsCheck.problems(of: text.text, as: file)
        guard problems.isEmpty else {
            throw SettingsCheck.failure(problems, "\(name) was not changed: the settings would have problems")
        }
        try file.write(text.text)
        withExtendedLifetime(lock) {}
        return try report(origin, path, warning: SettingsCheck.warning(about: path, in: text, of: file, options))
    }

    /// After a change.
    /// - Parameters:
    ///   - origin: where a new file comes from.
    ///   - path: the changed setting; `nil` if the whole file was edited.
    func report(
        _ origin: String?, _ path: [TOMLPath.Component]? = nil, warning: String? = nil
    ) throws(Failure) -> ExitStatus {
        var json: JSONObject = ["file": .string(file.path), "changed": true]
        if !options.json { Output.note(Visible.line(origin.map { "\(file.path): \($0)" } ?? "saved in \(file.path)")) }
        SettingsReload.report(SettingsReload.run(options, file), of: path, &json, asJSON: options.json)
        json["warning"] = warning.map(JSON.string)
        if let warning, !options.json { Output.note(Visible.line(warning)) }
        if options.json { try Output.json(.object(json)) }
        return .done
    }

    private func unchanged() throws(Failure) -> ExitStatus {
        if options.json { return try Output.jsonResult(["file": .string(file.path), "changed": false]) }
        Output.note("nothing to change in \(file.pathInUse)")
        return .done
    }

    private func refusal(_ refusal: TOMLText.Refusal, _ name: String) -> Failure {
        let edit = "`authc config edit` opens the file in an editor"
        return switch refusal {
        case .isTable: .usage("\(name) is a table: name one of its settings", hint: edit)
        case .isPart: .usage("\(name) is part of another value", hint: edit)
        case .noElement: .usage("\(name): there is no such table in the list", hint: edit)
        case .noPlace: .usage("\(name): this file has no place for it that authc can find", hint: edit)
        case .syntax(let problem):
            .internalError("line \(problem.line): expected \(problem.expected), found \(problem.found)")
        }
    }
}

/// The names of settings as the user writes them.
enum SettingName {
    /// Those that do not need a name of the user's own.
    static var complete: [String] {
        SettingKey.all.map(\.name).filter { !$0.contains("NAME") && !$0.contains("[N]") }
    }

    /// - Throws: if there is no such setting, with the nearest name.
    static func path(_ key: String, allowsTables: Bool) throws(Failure) -> [TOMLPath.Component] {
        guard let path = TOMLPath.components(key) else { throw invalid(key) }
        if SettingKey.matching(path) != nil { return path }
        if SettingKey.isTable(path) {
            guard !allowsTables else { return path }
            throw .usage(
                "\(key) is a table: name one of its settings", hint: "`authc config edit` opens the file in an editor")
        }
        let nearest =
            Suggestion.nearest(to: key, among: SettingKey.all.map(\.name)).map { "; did you mean \($0)?" } ?? ""
        throw .usage("unknown key \(Visible.line(key))\(nearest)", hint: "authd.toml(5) lists all settings")
    }

    static func invalid(_ key: String) -> Failure {
        .usage("'\(Visible.line(key))' is not the name of a setting", hint: "write it as http.proxy or hook[0].command")
    }

    /// For a shell's completion.
    /// - Parameter words: the command line so far.
    static func values(_ words: [String]) -> [String] {
        for word in words {
            guard let setting = TOMLPath.components(word).flatMap(SettingKey.matching) else { continue }
            return values(of: setting)
        }
        return []
    }

    /// The words that a setting accepts; none if it accepts more than some words.
    static func values(of setting: SettingKey) -> [String] {
        switch setting.type {
        case .word(let values): values
        case .boolean: ["true", "false"]
        default: []
        }
    }
}

extension TOMLText {
    /// A value for programs: a text without quotes, a list one element a line. A table: `key = value`, one a line.
    func lines(at path: String) -> [String] {
        guard let value = value(at: path), value.kind != .table else {
            return settings(below: path).map { "\($0.path) = \(oneLine(source(of: $0)))" }
        }
        guard value.kind == .list else { return [text(of: value)] }
        return values.filter { $0.path.hasPrefix(path + "[") }.map(text)
    }

    private func text(of value: TOMLValue) -> String {
        if case .text(let text) = value.kind { text } else { source(of: value) }
    }

    /// A list may have several lines.
    private func oneLine(_ source: String) -> String {
        source.split(whereSeparator: \.isNewline).map { $0.drop { $0 == " " || $0 == "\t" } }.joined(separator: " ")
    }
}
