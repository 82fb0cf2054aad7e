import ArgumentParser
import Logging
import ServiceLifecycle
import StandInBackends
import UnixSignals

@main
struct StandInBackendsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stand-in-backends",
        abstract: "Runs the five backends over HTTP, each on a port that the system chooses.",
        discussion: """
            The port file is a JSON object with every backend's base URL under its name, and "control". It is written when \
            all backends listen, and removed at the end (SIGTERM, SIGINT).
            """)

    @Option(help: ArgumentHelp("The file for the addresses. Default: print them.", valueName: "file"))
    var portFile: String?

    @Option(help: ArgumentHelp("The lifetime of a token.", valueName: "seconds"))
    var tokenSeconds = 3600.0

    @Option(help: ArgumentHelp("How long a refreshed token is still accepted.", valueName: "seconds"))
    var graceSeconds = 5.0

    @Option(help: ArgumentHelp("The numeric address to listen on.", valueName: "address"))
    var host = "127.0.0.1"

    @Option(help: ArgumentHelp("The account of each backend.", valueName: "address"))
    var email = SeedUser().email

    @Option(help: ArgumentHelp("The account's password, which is not a secret here.", valueName: "text"))
    var password = SeedUser().password

    @Option(help: ArgumentHelp("The account's name.", valueName: "text"))
    var name = SeedUser().name

    @Flag(help: "End when standard input ends.")
    var untilStdinCloses = false

    func validate() throws {
        // A year keeps every date in range.
        guard (0...31_536_000).contains(tokenSeconds), (0...31_536_000).contains(graceSeconds) else {
            throw ValidationError("Give seconds from 0 to 31536000.")
        }
    }

    func run() async throws {
        var configuration = StandIns.Configuration()
        configuration.host = host
        configuration.seed = SeedUser(email: email, password: password, name: name)
        configuration.tokenLifetime = .seconds(tokenSeconds)
        configuration.grace = .seconds(graceSeconds)
        let service = StandInService(
            try await StandIns(configuration), portFile: portFile.map(PortFile.init), untilInputCloses: untilStdinCloses
        )
        let services = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: service, successTerminationBehavior: .gracefullyShutdownGroup)],
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: Logger(label: "stand-in-backends", factory: { _ in SwiftLogNoOpLogHandler() })))
        try await services.run()
    }
}
