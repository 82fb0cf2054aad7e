import AgentTestSupport
import AuthAgent
import AuthModel
import AuthWire

/// A provider that signs people in by a code that it sends.
struct CodeProvider {
    static let code = "012345"

    let example: ExampleProvider

    init(store: any SessionStore = MemoryStore()) throws {
        let transport = ScriptedTransport { request throws(TransportError) in
            switch request.url {
            case "http://localhost:1/send": return ExampleProvider.json(200, #"{"message":"It is on its way"}"#)
            case "http://localhost:1/code" where request.json?["code"] != .string(Self.code):
                return ExampleProvider.json(400, #"{"message":"Invalid verification code"}"#)
            case "http://localhost:1/password" where request.json?["password"] == "hunter2hunter2":
                return ExampleProvider.json(400, #"{"message":"Too well known"}"#)
            case "http://localhost:1/password": return ExampleProvider.json(200, #"{"message":"Password set"}"#)
            default:
                return ExampleProvider.json(
                    200, #"{"token":"token-1","message":"Welcome","user":{"id":"7","email":"a@b.example"}}"#)
            }
        }
        example = try ExampleProvider(store: store, transport: transport) { profile in
            profile.signIn = [try Self.method()]
            profile.password = [.set: try Self.setPassword()]
            profile.renewal = Renewal(kind: .none)
        }
    }

    static func method() throws -> SignInMethod {
        var method = SignInMethod(
            name: "code", label: "Code",
            fields: [
                StepField(name: "email", label: "E-mail", kind: "email"),
                StepField(name: "device", label: "Device", optional: true),
                StepField(name: "code", label: "Code", kind: "code"),
            ],
            rules: ["email": [.email], "code": [.digits(count: 6)]], request: try request("/code", ["email", "code"]))
        method.challenge = Challenge(
            field: "code", request: try request("/send", ["email", "device"]), lifetime: .seconds(600),
            pause: .seconds(30))
        method.needsPassword = true
        return method
    }

    private static func setPassword() throws -> SignInMethod {
        var request = try request("/password", ["password"])
        request.bearer = true
        return SignInMethod(
            name: "set", label: "Set a password",
            fields: [StepField(name: "password", label: "Password", secret: true, kind: "new-password")],
            rules: ["password": [.minimumLength(8), .digit]], request: request)
    }

    private static func request(_ path: String, _ fields: [String]) throws -> RequestTemplate {
        var members: [(name: String, value: BodyTemplate)] = []
        for field in fields { members.append((field, .text(try Template(parsing: "{\(field)}")))) }
        return RequestTemplate(method: "POST", path: try Template(parsing: path), body: .json(.object(members)))
    }
}
