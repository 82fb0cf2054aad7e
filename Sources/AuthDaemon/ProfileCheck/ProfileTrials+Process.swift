package import AuthAgent
import AuthModel
package import AuthWire

extension ProfileTrials {
    /// - Throws: `validation` for an invalid URL, and the errors of the process that reads the profile.
    package func run(_ params: ProviderTry, readBy process: ProfileCheckProcess) async throws(AgentError)
        -> ProviderTrial
    {
        let base: BaseURL
        do throws(BaseURLError) {
            base = try BaseURL(params.url)
        } catch {
            throw AgentError(.validation, "The server's address must be \(error.expected).", cause: "url")
        }
        let question = ProfileQuestion(text: params.text, file: params.file, url: base.text)
        let reading = try await process.read(question)
        // A profile may name further hosts: only the given one is tried.
        let trials = reading.trials.map { trial in
            let origin = Origin(of: trial.url)
            guard trial.skipped == nil, origin != Origin(of: base.text) else { return trial }
            var other = trial
            other.skipped = "it is sent to \(origin?.text ?? "another server"), not to \(base.text)"
            return other
        }
        return ProviderTrial(problems: reading.check.problems, requests: await run(trials))
    }
}
