import ArgumentParser
import AuthWire

struct Provider: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The backends to sign in to.", subcommands: [ListThem.self, Show.self, Check.self])

    struct ListThem: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List all providers.")

        @OptionGroup var common: CommonOptions

        func run() throws {
            try common.run { options throws(Failure) in try ProviderCommands.list(options) }
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show a provider's environments and ways to sign in.")

        @OptionGroup var common: CommonOptions

        @Argument(help: "The provider.")
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

        @OptionGroup var common: CommonOptions

        @Argument(help: "The profile's file; - is stdin.")
        var file: String

        func run() throws {
            try common.run { options throws(Failure) in try ProviderCommands.check(file, options) }
        }
    }
}

struct Network: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show how far the network reaches, and how each provider was reached last.")

    @OptionGroup var common: CommonOptions

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

    @OptionGroup var common: CommonOptions

    func run() throws {
        try common.run { options throws(Failure) in try DoctorReport.run(options) }
    }
}

struct Version: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show the versions of authc and authd.")

    @OptionGroup var common: CommonOptions

    func run() throws {
        try common.run { options throws(Failure) in try AgentCommands.version(options) }
    }
}
