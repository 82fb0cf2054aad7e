package import AuthModel
import AuthWire
package import Logging
import ServiceLifecycle

/// Restarts the agent when its program was replaced and it is idle, as ``UpgradePlan`` decides. It looks when the
/// watchdog beats.
package struct UpgradeService: Service {
    private let program: ProgramFile
    private let restart: ProgramRestart
    private let activity: AgentActivity
    private let clock: any SystemClock
    private let logger: Logger
    private let looks: AsyncStream<Void>
    private let newLooks: AsyncStream<Void>.Continuation

    package init(
        program: ProgramFile, restart: ProgramRestart, activity: AgentActivity, clock: any SystemClock, logger: Logger
    ) {
        self.program = program
        self.restart = restart
        self.activity = activity
        self.clock = clock
        self.logger = logger
        (looks, newLooks) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Any thread may call it; it does not wait.
    package func look() { newLooks.yield() }

    package func run() async throws {
        var plan = UpgradePlan()
        var reported: ProgramFile.Identity?
        for await _ in looks.cancelOnGracefulShutdown() {
            let replacement = program.replacement()
            switch plan.looked(at: replacement, obstacle: activity.obstacle, now: clock.now().boot) {
            case .nothing: break
            case .wait(let obstacle):
                logger.notice("The program was upgraded. authd does not restart yet: \(obstacle.text).")
            case .restart:
                do throws(AgentError) {
                    let isBegun = try await restart.begin { activity.obstacle == nil }
                    if isBegun { logger.notice("The program was upgraded: restarting.") } else { plan.interrupted() }
                } catch {
                    // Once for each program.
                    guard reported != replacement else { break }
                    reported = replacement
                    logger.error("\(error.message)", metadata: CatalogMessage.newProgramRefused.metadata())
                }
            }
        }
    }
}
