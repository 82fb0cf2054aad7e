import AuthConfiguration
import AuthWire
import CommandArguments

struct Config: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Read and change the settings, authd.toml.",
        discussion: """
            A change is checked as `authd --check` does before it is written; comments and layout stay. A running agent reloads \
            it.
            """,
        subcommands: [Get.self, Set.self, Unset.self, Edit.self, Path.self, ListSettings.self])

    struct FileOption: ParsableArguments {
        @Option(
            help: ArgumentHelp("Use this file, for an agent started with --config.", valueName: "file"),
            completion: .file)
        var file: String?
    }

    struct Get: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "get",
            abstract: "Print a setting as it is in the file: lists: one element per line; tables: one setting per line."
        )

        @OptionGroup var common: FileOptions
        @OptionGroup var place: FileOption

        @Argument(help: "The setting, such as http.proxy or hook[0].command.", completion: settingNames)
        var key: String

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            let path = try SettingName.path(key, allowsTables: true)
            let name = TOMLPath.text(path)
            let file = try SettingsFile(named: place.file)
            let text = try SettingsFile.parse(try file.current(), file.pathInUse)
            let standard = SettingKey.matching(path)?.standard
            if options.json {
                return try Output.jsonResult([
                    "key": .string(name), "value": text.json(at: name) ?? .null,
                    "default": standard.map(JSON.string) ?? .null,
                ])
            }
            let lines = text.lines(at: name)
            if lines.isEmpty {
                Output.note("\(name) is not set" + (standard.map { " (default: \($0))" } ?? ""))
            } else {
                try Output.result(lines.map { Visible.line($0) }.joined(separator: "\n"))
            }
            return .done
        }
    }

    struct Set: AgentCommand {
        static let configuration = CommandConfiguration(commandName: "set", abstract: "Change a setting, or add it.")

        @OptionGroup var common: GeneralOptions
        @OptionGroup var place: FileOption

        @Argument(help: "The setting.", completion: settingNames)
        var key: String

        @Argument(
            help: "The value. A list takes one or more.", completion: .settingValues)
        var values: [String]

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            let change = SettingsChange(file: try SettingsFile(named: place.file), options: options)
            return try change.set([(key, values)])
        }
    }

    struct Unset: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "unset", abstract: "Remove a setting, so that its default applies.")

        @OptionGroup var common: GeneralOptions
        @OptionGroup var place: FileOption

        @Argument(help: "The setting.", completion: settingNames)
        var key: String

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            // Even an unknown one, which may be in the file by mistake.
            guard let path = TOMLPath.components(key) else { throw SettingName.invalid(key) }
            return try SettingsChange(file: try SettingsFile(named: place.file), options: options).perform(path) {
                text throws(TOMLText.Refusal) in
                _ = try text.unset(TOMLPath.text(path))
            }
        }
    }

    struct Edit: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "edit",
            abstract: "Edit the settings with $VISUAL or $EDITOR, and check them before they are written.")

        @OptionGroup var common: AskingOptions
        @OptionGroup var place: FileOption

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            let file = try SettingsFile(named: place.file)
            let origin = file.origin
            guard try SettingsEditor(file: file, options: options).run() else {
                if options.json { return try Output.jsonResult(["file": .string(file.path), "changed": false]) }
                Output.note("nothing was changed")
                return .done
            }
            return try SettingsChange(file: file, options: options).report(origin)
        }
    }

    struct Path: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "path", abstract: "Print the path of the settings file, even if it does not exist.")

        @OptionGroup var common: FileOptions
        @OptionGroup var place: FileOption

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            let file = try SettingsFile(named: place.file)
            if options.json {
                return try Output.jsonResult(["file": .string(file.pathInUse), "exists": .bool(file.exists)])
            }
            try Output.result(Visible.line(file.pathInUse))
            return .done
        }
    }

    struct ListSettings: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Print all settings of the file.")

        @OptionGroup var common: FileOptions
        @OptionGroup var place: FileOption

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            let file = try SettingsFile(named: place.file)
            let text = try SettingsFile.parse(try file.current(), file.pathInUse)
            if options.json { return try Output.jsonResult(text.json() ?? [:]) }
            let lines = text.lines(at: "")
            if lines.isEmpty {
                Output.note("\(file.pathInUse) \(file.exists ? "sets nothing" : "does not exist"): the defaults apply")
            } else {
                try Output.result(lines.map { Visible.line($0) }.joined(separator: "\n"))
            }
            return .done
        }
    }
}

private let settingNames = CompletionKind.list(SettingName.complete)
