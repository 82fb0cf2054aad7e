import ArgumentParser
import AuthWire

struct Trust: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Let a session's tokens be sent to the new place that its changed profile names.",
        discussion: """
            Shows the former and the new origins, and asks. Until you agree, or sign in again, nothing is sent to the new ones \
            and the session gives out no token.
            """)

    @OptionGroup var common: CommonOptions

    @Flag(help: "Agree without being asked.")
    var yes = false

    func run() throws {
        try common.run { options throws(Failure) in try TrustQuestion.run(options, agreed: yes) }
    }
}
