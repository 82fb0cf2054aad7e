import AuthWire
import Foundation
import TestSupport
import Testing

/// The container credentials of AWS, for boto3, with moto's Security Token Service.
@Suite("The endpoint's view for AWS", .serialized, .timeLimit(.minutes(3)))
struct HTTPEndpointAWSTests {
    private static let program = "import boto3; print(boto3.client(\"sts\").get_caller_identity()[\"Arn\"])"
    private static let command = "aws sts get-caller-identity"

    /// A line with Python in place of AWS's command line, which is not on PyPI.
    private static func withPython(_ line: String, _ play: EndpointScene) throws -> String {
        #expect(line.contains(command))
        let python = try Peer.program("python", of: "moto")
        return
            "export AWS_ENDPOINT_URL=\(play.server.url) AWS_DEFAULT_REGION=us-east-1 AWS_EC2_METADATA_DISABLED=true\n"
            + line.replacing(command, with: "\(python) -c '\(program)'")
    }

    @Test("the recipe: boto3 gets a role's credentials, and again from memory")
    func recipe() async throws {
        try await EndpointScene.play { play in
            let add = try Recipes.block(with: "authc http add backup")
            let added = try await play.scene.run(
                add.replacing(
                    "--role \(EndpointScene.role)", with: "--role \(EndpointScene.role) --sts \(play.server.url)"))
            #expect(added.status == 0, "\(added)")
            try await play.serve { endpoint in
                let recipe = try Recipes.block(with: "authc http env backup").replacing(
                    "env backup", with: "env backup --listen \(endpoint.address)")
                for _ in 1...2 {
                    let got = try await play.scene.run(try Self.withPython(recipe, play))
                    #expect(got.status == 0 && got.out.contains(":assumed-role/reader/authd-backup"), "\(got)")
                }
                #expect(try await play.exchanges() == "[1]")
            }
        }
    }

    @Test("20 callers at once cause one exchange, and get its credentials")
    func oneExchange() async throws {
        try await EndpointScene.play { play in
            let key = try await play.addAWS("backup")
            try await play.serve { endpoint in
                try await play.tell("/hold")
                let ids = try await withThrowingTaskGroup(of: String?.self) { group in
                    for _ in 1...20 {
                        group.addTask { try await endpoint.get("/v1/aws", key: key).json["AccessKeyId"]?.stringValue }
                    }
                    #expect(try await until { try await play.exchanges() == "[1]" })
                    try await play.tell("/go")
                    return try await group.reduce(into: [String?]()) { $0.append($1) }
                }
                #expect(ids.count == 20 && Set(ids).count == 1 && ids[0]?.isEmpty == false)
                #expect(try await play.exchanges() == "[1]")
                let json = try await endpoint.get("/v1/aws", key: key).json
                #expect(json["Token"]?.stringValue?.isEmpty == false && json["RoleArn"] == .string(EndpointScene.role))
                #expect(json["Expiration"]?.stringValue?.hasSuffix("Z") == true, "\(json)")
            }
        }
    }

    @Test("a signed-out session gets AWS's form of an error at once, even if credentials are in memory")
    func signedOut() async throws {
        try await EndpointScene.play { play in
            let key = try await play.addAWS("backup")
            try await play.serve { endpoint in
                #expect(try await endpoint.get("/v1/aws", key: key).status == 200)
                try await play.signOut()
                let refusal = try await endpoint.get("/v1/aws", key: key)
                #expect(refusal.status == 401, "\(refusal.body)")
                let json = try refusal.json
                #expect(json["Code"] != nil && json["Message"]?.stringValue?.contains("authc login") == true, "\(json)")
                let variables = "eval \"$(authc http env backup --listen \(endpoint.address))\""
                let line = try Self.withPython("\(variables)\n\(Self.command)", play)
                let program = try await play.scene.run(line)
                #expect(program.status != 0 && program.err.contains("CredentialRetrievalError"), "\(program)")
                // Another sign-in may be another account.
                try await play.signIn()
                #expect(try await endpoint.get("/v1/aws", key: key).status == 200)
                #expect(try await play.exchanges() == "[1, 2]")
            }
        }
    }

    @Test("a service without TLS on another machine is refused when its program is added")
    func otherHost() async throws {
        try await EndpointScene.play { play in
            let words = ["http", "add", "backup", "-s", "work", "--view", "aws", "--role", EndpointScene.role]
            let added = try await play.scene.authc(words + ["--sts", "http://sts.example.org"])
            #expect(added.status == 64 && added.err.contains("--sts") && added.err.contains("https"), "\(added)")
            #expect(try await play.scene.authc(["http", "list"]).out.isEmpty)
            #expect(try await play.scene.authc(words + ["--sts", "https://sts.example.org"]).status == 0)
        }
    }

    @Test("a refusal of the service has its word and its reason, and one that cannot be reached is a 502")
    func refused() async throws {
        try await EndpointScene.play { play in
            let key = try await play.addAWS("backup")
            let other = try await play.addAWS("other")
            try await play.serve { endpoint in
                try await play.tell("/refuse")
                let refusal = try await endpoint.get("/v1/aws", key: key)
                #expect(try refusal.status == 403 && refusal.json["Code"] == "ExpiredTokenException", "\(refusal.body)")
                play.server.end()
                let gone = try await endpoint.get("/v1/aws", key: other)
                #expect(try gone.status == 502 && gone.json["Code"]?.stringValue != nil, "\(gone.body)")
            }
        }
    }

    @Test("the recipe: the credential_process of a profile, which needs no endpoint")
    func process() async throws {
        try await EndpointScene.play { play in
            let recipe = try Recipes.block(with: "credential_process")
            let role = "--role \(EndpointScene.role)"
            #expect(recipe.contains(role))
            let profile = recipe.replacing(role, with: "\(role) --sts \(play.server.url)")
            _ = try play.scene.desktop.folder.write(profile, to: "home/.aws/config")
            let line = try Self.withPython("AWS_PROFILE=reader \(Self.command)", play)
            let got = try await play.scene.run(line)
            #expect(got.status == 0 && got.out.contains(":assumed-role/reader/authd-work"), "\(got)")
            let words = ["helper", "aws", "-s", "work", "--role", EndpointScene.role, "--sts", play.server.url]
            let printed = try await play.scene.authc(words)
            #expect(try JSON(parsing: printed.out)["Version"] == 1 && printed.err.isEmpty, "\(printed.err)")
            try await play.signOut()
            let none = try await play.scene.authc(words)
            #expect([3, 64].contains(none.status) && none.out.isEmpty && none.err.contains("authc login"), "\(none)")
        }
    }
}
