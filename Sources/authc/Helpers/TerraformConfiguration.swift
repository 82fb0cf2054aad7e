import AuthClient
import AuthFiles
import AuthWire
import Glibc

/// A line of Terraform's configuration, and a program with the name that Terraform looks for in its folder of plugins.
struct TerraformConfiguration {
    private static let line = "credentials_helper \"authd\" {}"

    let session: SessionName?

    func apply(remove: Bool, dryRun: Bool) throws(Failure) {
        let home = try HelperScript.home()
        let named = environmentValue("TF_CLI_CONFIG_FILE") ?? ""
        let script = HelperScript(
            "terraform", session: session, at: home + "/.terraform.d/plugins/terraform-credentials-authd")
        do throws(SystemFailure) {
            var text = try ConfigurationText(path: named.isEmpty ? home + "/.terraformrc" : named)
            let present = text.lines.filter { $0.drop { $0 == " " || $0 == "\t" }.hasPrefix("credentials_helper") }
            let hasOwn = present == [Self.line]
            guard remove || hasOwn || present.isEmpty else {
                // Terraform accepts one.
                throw SystemFailure("change \(text.path), which has \(present[0])", number: EEXIST)
            }
            if remove {
                text.lines.removeAll { $0 == Self.line }
                if hasOwn, !dryRun { try text.write() }
                Output.note(hasOwn ? "\(text.path): \(Self.line) removed" : "\(text.path) does not name authd")
                return try script.remove(dryRun: dryRun)
            }
            try script.install(dryRun: dryRun)
            text.lines.append(Self.line)
            if !hasOwn, !dryRun { try text.write() }
            Output.note("\(text.path): \(Self.line)")
        } catch {
            throw .usage(error.description)
        }
    }
}
