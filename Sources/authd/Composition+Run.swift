import AuthDaemon
import Logging
import ServiceLifecycle
import UnixSignals

extension Composition {
    /// Above what the services take: 5 s for requests in flight, of clients or of sessions, and then 4 s for the store.
    private static let longestStop = Duration.seconds(12)

    /// Serves until SIGTERM or SIGINT.
    /// - Returns: what went wrong, if something did.
    func run(_ services: [any Service], _ logger: Logger) async -> (any Error)? {
        var group = ServiceGroupConfiguration(
            services: services.map { service in
                .init(
                    service: service,
                    // Sessions that are not stored yet are written first.
                    failureTerminationBehavior: service is ProcessReaderService
                        ? .gracefullyShutdownGroup : .cancelGroup,
                    serviceName: (service as? BackgroundService)?.name ?? "\(type(of: service))")
            },
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        group.maximumGracefulShutdownDuration = Self.longestStop
        do {
            try await ServiceGroup(configuration: group).run()
            return nil
        } catch {
            return error
        }
    }
}
