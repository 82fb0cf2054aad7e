import ArgumentParser
import AuthWire

struct Provider: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The backends to sign in to.",
        subcommands: [ListThem.self, Show.self, Check.self, New.self, Forget.self])

    struct ListThem: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List all providers.")

        @OptionGroup var common: GeneralOptions

        func run() throws {
            try common.run { options throws(Failure) in try ProviderCommands.list(options) }
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show a provider's environments and ways to sign in.")

        @OptionGroup var common: GeneralOptions

        @Argument(help: "The provider.", completion: .custom { _, _, _ in KnownNames.providers() })
        var name: String

        @Flag(help: "List the calls of its API, with their arguments.")
        var endpoints = false

        func run() throws {
            try common.run { options throws(Failure) in
                endpoints ? try EndpointList.show(name, options) : try ProviderCommands.show(name, options)
            }
        }
    }

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check a profile; exit status 78 when something is wrong.")

        @OptionGroup var common: GeneralOptions

        @Argument(help: "The profile's file; - is stdin.")
        var file: String

        func run() throws {
            try common.run { options throws(Failure) in try ProviderCommands.check(file, options) }
        }
    }

    struct Forget: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Drop what a provider has registered authd as; the next sign-in registers again.",
            discussion: """
                For a profile with `registration = true`. The provider is requested to delete the client too (RFC 7592), \
                unless a session still uses it.
                """)

        @OptionGroup var common: CommonOptions

        @Argument(help: "The provider.", completion: .custom { _, _, _ in KnownNames.providers() })
        var name: String

        func run() throws {
            try common.run { options throws(Failure) in try ProviderCommands.forget(name, options) }
        }
    }

    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write a profile for a backend that has none, to go on with by hand.",
            discussion: """
                What is not given is asked on a terminal, and is the usual without one. The file belongs into \
                ~/.config/authd/providers/.
                """)

        @OptionGroup var common: GeneralOptions

        @Argument(help: "A short name.")
        var name: String?

        @Option(help: "The name for people.")
        var title: String?

        @Option(help: "The base URL of its API.")
        var url: String?

        @Option(help: ArgumentHelp("The path of the sign-in.", valueName: "path"))
        var signIn: String?

        @Option(help: ArgumentHelp("What the sign-in sends, as in 'email password'.", valueName: "names"))
        var fields: String?

        @Option(help: ArgumentHelp("Where the answer has the token.", valueName: "pointer"))
        var token: String?

        @Option(help: ArgumentHelp("Where it has a refresh token.", valueName: "pointer"))
        var refreshToken: String?

        @Option(help: ArgumentHelp("Where it has the token's lifetime in seconds.", valueName: "pointer"))
        var expiresIn: String?

        @Option(help: ArgumentHelp("Where it has the user.", valueName: "pointer"))
        var user: String?

        @Option(help: ArgumentHelp("The path of the call that renews the token.", valueName: "path"))
        var renew: String?

        @Option(
            name: [.customLong("openapi")],
            help: ArgumentHelp("A description of the API (OpenAPI 3, JSON) for the endpoints.", valueName: "file"))
        var openAPI: String?

        @Option(name: [.short, .long], help: ArgumentHelp("Write a new file; else stdout.", valueName: "file"))
        var output: String?

        func run() throws {
            let given = ProviderNew.Arguments(
                name: name, title: title, url: url, signIn: signIn, fields: fields, token: token,
                refreshToken: refreshToken, expiresIn: expiresIn, user: user, renew: renew)
            try common.run { options throws(Failure) in
                try ProviderNew(given: given, openAPI: openAPI, output: output).run(options)
            }
        }
    }
}

struct Network: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show how far the network reaches, and how each provider was reached last.")

    @OptionGroup var common: GeneralOptions

    @Flag(help: "A line for each change, until it is ended.")
    var watch = false

    func run() throws {
        try common.run { options throws(Failure) in
            if watch { return try Watch.run(options, topic: .network, view: options.json ? nil : NetworkLines()) }
            return try AgentCommands.network(options)
        }
    }
}

struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look at everything that sessions lean on: what is wrong, and what to do.",
        discussion: """
            The socket, the agent, its store, the network, each provider, the clock, the sessions. The exit status is that \
            of the first problem, 0 where there are warnings only.
            """)

    @OptionGroup var common: GeneralOptions

    func run() throws {
        try common.run { options throws(Failure) in try DoctorReport.run(options) }
    }
}

struct Reload: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Have the agent read its settings and profiles again.",
        discussion: "Where something is wrong in them, nothing is changed; the exit status is 78 then.")

    @OptionGroup var common: GeneralOptions

    func run() throws {
        try common.run { options throws(Failure) in try AgentCommands.reload(options) }
    }
}

struct Version: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show the versions of authc and authd.")

    @OptionGroup var common: GeneralOptions

    func run() throws {
        try common.run { options throws(Failure) in try AgentCommands.version(options) }
    }
}
