import AuthConnection
import AuthWire
import CommandArguments

/// A certificate for ssh from a certificate authority that accepts the session's token.
struct SSHCertificateHelper: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "ssh-cert", abstract: "Keep a valid SSH certificate beside a key.",
        discussion: """
            Sends KEY.pub to an endpoint of the session's provider, and writes the certificate in its response to \
            KEY-cert.pub. If that certificate is valid for another minute, nothing is sent. ssh can run it: \
            `Match host *.example.org exec "authc helper ssh-cert sign -s work --key ~/.ssh/id_work"`.
            """)

    @OptionGroup var common: CommonOptions

    @Option(help: ArgumentHelp("The private key. Only KEY.pub is read.", valueName: "file"), completion: .file)
    var key: String

    @Option(help: ArgumentHelp("The endpoint's argument for the public key.", valueName: "name"), completion: .nothing)
    var keyArgument = "public_key"

    @Argument(help: "The endpoint.", completion: .endpoints)
    var endpoint: String

    @Argument(
        help: ArgumentHelp("Other arguments: NAME=TEXT or NAME:=JSON.", valueName: "argument"), completion: .arguments)
    var arguments: [String] = []

    /// A connection may take a while between this command and the server's check.
    private static let leastTime = Duration.seconds(60)
    /// How long another program with the same key may take, without `--timeout`.
    private static let longestWait = Duration.seconds(60)

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        var options = options
        // ssh may be a part of a program without a terminal.
        options.noInput = true
        let files = try SSHKeyFiles(key: key, until: .after(options.timeout ?? Self.longestWait))
        let present = try files.certificate()
        if let present, present.isValid(at: WallClock.now, for: Self.leastTime) {
            return try report(present, files, isNew: false, options)
        }
        do throws(Failure) {
            let new = try request(for: files.key, options)
            try files.write(new)
            return try report(new, files, isNew: true, options)
        } catch {
            guard let present, present.isValid(at: WallClock.now) else { throw error }
            Output.note("authc: " + error.text)
            return try report(present, files, isNew: false, options)
        }
    }

    private func report(
        _ certificate: SSHCertificate, _ files: SSHKeyFiles, isNew: Bool, _ options: Options
    ) throws(Failure) -> ExitStatus {
        if options.json {
            return try Output.jsonResult([
                "certificate": .string(files.certificatePath), "new": .bool(isNew),
                "expires_at": certificate.end.map(JSON.integer) ?? .null,
            ])
        }
        try Output.result(files.certificatePath)
        return .done
    }

    private func request(for key: SSHPublicKey, _ options: Options) throws(Failure) -> SSHCertificate {
        let given = try CallArguments(arguments + ["\(keyArgument)=\(key.line)"], secretDescriptors: [])
        let agent = try options.connect()
        let session = try options.chosenSession()
        let (args, file) = try given.values(
            for: try EndpointInfo.named(endpoint, of: session, agent), options)
        guard file == nil else { throw .usage("a file among the arguments is too long") }
        let call = APICall(
            session: session, endpoint: endpoint, args: args, timeout: options.timeout, cache: .reload,
            waitsForConnectivity: false)
        let response = try agent.call(call, within: options.responseTimeout).value
        return try certificate(in: response, for: key)
    }

    /// The response is the certificate, or JSON that has it anywhere.
    private func certificate(in response: APIResponse, for key: SSHPublicKey) throws(Failure) -> SSHCertificate {
        var mistake = "has no SSH certificate"
        for text in response.texts {
            do throws(SSHCertificate.Mistake) {
                let certificate = try SSHCertificate(text, for: key)
                if certificate.isValid(at: WallClock.now) { return certificate }
                mistake = "is a certificate that is not valid now"
            } catch {
                switch error {
                case .noCertificate: break
                case .forHosts: mistake = "is a certificate for a server, not for a user"
                case .forOtherKey: mistake = "is a certificate for another key"
                }
            }
        }
        throw badReply(mistake)
    }

    private func badReply(_ what: String) -> Failure {
        Failure(
            status: .badReply, kind: ErrorKind.badReply.rawValue,
            message: "the response of \(Visible.line(endpoint)) \(what)")
    }
}

extension APIResponse {
    /// Every text in the body.
    fileprivate var texts: [String] {
        if let body { return Self.texts(in: body) }
        return bodyBase64.flatMap(Base64.decode).map { [String(decoding: $0, as: UTF8.self)] } ?? []
    }

    private static func texts(in value: JSON) -> [String] {
        switch value {
        case .string(let text): [text]
        case .array(let values): values.flatMap(texts)
        case .object(let members): members.flatMap { texts(in: $0.value) }
        default: []
        }
    }
}
