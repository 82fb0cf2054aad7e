import AuthClient
import AuthFiles
import AuthWire
import Glibc

/// `credHelpers` of docker's configuration, and a program with the name that docker looks for (docker login(1)).
struct DockerConfiguration {
    private static let longestFile = 1 << 20

    let server: Substring
    let session: SessionName?

    /// docker names registries without a scheme.
    private var registry: String { String(server.drop { $0 != "/" }.dropFirst(2)) }
    private var helper: String { "authd" + (session.map { "-\($0)" } ?? "") }

    func apply(remove: Bool, dryRun: Bool) throws(Failure) {
        let named = environmentValue("DOCKER_CONFIG") ?? ""
        let file = AtomicFile(path: (named.isEmpty ? try HelperScript.home() + "/.docker" : named) + "/config.json")
        let folder = try HelperScript.programFolder()
        let script = HelperScript("docker", session: session, at: "\(folder)/docker-credential-\(helper)")
        do throws(SystemFailure) {
            let former = try configuration(in: file)
            var helpers = former["credHelpers"]?.objectValue ?? JSONObject()
            let present = helpers[registry]?.stringValue
            if let present, present != helper {
                let action = "change \(file.path): docker-credential-\(present) is set for \(registry)"
                throw SystemFailure(action, number: EEXIST)
            }
            guard !remove else {
                guard present != nil else { return Output.note("\(file.path) does not name \(helper) for \(registry)") }
                helpers[registry] = nil
                if !dryRun { try write(helpers, in: former, to: file) }
                return Output.note("credHelpers: \"\(registry)\": \"\(helper)\" removed from \(file.path)")
            }
            helpers[registry] = .string(helper)
            try script.install(dryRun: dryRun)
            if present == nil, !dryRun {
                HelperScript.makeFolders(for: file.path)
                try write(helpers, in: former, to: file)
            }
            Output.note("credHelpers: \"\(registry)\": \"\(helper)\" added to \(file.path)")
            script.noteIfNotOnPath(for: "docker")
        } catch {
            throw .usage(error.description)
        }
    }

    private func configuration(in file: AtomicFile) throws(SystemFailure) -> JSONObject {
        let bytes = try file.read(atMost: Self.longestFile) ?? []
        guard !bytes.isEmpty else { return JSONObject() }
        guard case .object(let object)? = try? JSON(parsing: bytes) else {
            throw SystemFailure("change \(file.path), which is not JSON", number: EINVAL)
        }
        return object
    }

    private func write(_ helpers: JSONObject, in former: JSONObject, to file: AtomicFile) throws(SystemFailure) {
        var object = former
        object["credHelpers"] = helpers.isEmpty ? nil : .object(helpers)
        try file.replace(with: Array((JSON.object(object).text(pretty: true) + "\n").utf8))
    }
}
