import AuthDaemon
import AuthModel
import AuthProviders
import AuthWire
import Glibc

ProcessGuard.keepStandardDescriptors()

let profileCheck = ProfileCheckProgram.run { question in
    do throws(ProfileProblems) {
        guard !question.isPolicy else {
            return ProfileReading(
                try PolicyReader.read(question.text, from: .user, file: question.file ?? "policy.toml"))
        }
        let profile = try ProfileReader.read(question.text, source: question.file ?? "profile")
        return ProfileReading(
            check: ProviderCheck(problems: [], notes: profile.notes),
            trials: question.url.flatMap { try? BaseURL($0) }.map(profile.trials) ?? [])
    } catch {
        return ProfileReading(check: ProviderCheck(problems: error.problems))
    }
}
if let profileCheck { exit(profileCheck) }

let composition = Composition(reader: ConfigurationReader(options: .ofThisProcess()))
// libdispatch requests a higher priority for its own thread. The system refuses that to ordinary users, and libdispatch logs
// it. No other thread runs yet, so the environment may be changed.
unsafe setenv("LIBDISPATCH_LOG", "NO", 0)
if composition.reader.options.check {
    let status = composition.reader.check()
    run { status }
}
let claims = Result { () throws(StartRefusal) in try composition.claim() }
run { [composition, claims] in await composition.run(claims) }

/// Does the work, writes the rest of the log, and exits.
func run(_ work: @escaping @Sendable () async -> ExitStatus) -> Never {
    // A task that the main thread starts or waits for would get such a priority too.
    Task.detached(priority: .medium) {
        AgentLog.start()
        let status = await work()
        await AgentLog.finish()
        exit(status.rawValue)
    }
    while true { pause() }
}
