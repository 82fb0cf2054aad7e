package import AuthWire

/// The provider of `authc try`: one account, a REST API with refresh tokens that are valid once, and an endpoint.
///
/// Its tokens are numbered, not random, so that the user sees which one a command prints. They open nothing.
package struct TrialProvider: Sendable {
    /// Something that the user is shown.
    package enum Event: String, Sendable {
        case signedIn = "signed_in"
        case renewed
        case signedOut = "signed_out"
    }

    package struct Request: Sendable {
        package let method: String
        package let path: String
        /// The field `Authorization`.
        package let authorization: String?
        package let body: [UInt8]

        package init(method: String, path: String, authorization: String? = nil, body: [UInt8] = []) {
            self.method = method
            self.path = path
            self.authorization = authorization
            self.body = body
        }
    }

    package struct Response: Sendable {
        package let status: Int
        package let body: JSON
        package var event: Event?
    }

    package static let email = "ada@example.org"
    package static let password = "demo-password"
    /// Soon old enough for a renewal on request: a quarter of it (`RenewalPolicy`).
    package static let firstLife: Int64 = 12
    package static let life: Int64 = 60
    /// For any request, far above what its profile sends.
    package static let maxBodyBytes = 64 << 10
    /// Other calls that arrive in this time join a renewal.
    package static let renewalDelay = Duration.milliseconds(300)

    private static let user: JSON = ["id": "1", "email": .string(email), "name": "Ada"]

    /// Counts the tokens. Only the pair with the highest number is valid.
    private var issued = 0
    private var isSignedIn = false

    package init() {}

    package mutating func respond(to request: Request) -> Response {
        switch (request.method, request.path) {
        case ("POST", "/session"): return signIn(request)
        case ("POST", "/session/refresh"): return renew(request)
        case ("DELETE", "/session"):
            guard isAuthorized(request) else { return Self.refusal }
            isSignedIn = false
            return Response(status: 200, body: [:], event: .signedOut)
        case ("GET", "/me"):
            return isAuthorized(request) ? Response(status: 200, body: Self.user) : Self.refusal
        default: return Response(status: 404, body: ["message": "There is no such resource."])
        }
    }

    private mutating func signIn(_ request: Request) -> Response {
        let body = try? JSON(parsing: request.body)
        guard body?["email"]?.stringValue == Self.email, body?["password"]?.stringValue == Self.password else {
            return Response(status: 401, body: ["message": "The e-mail address or the password is wrong."])
        }
        isSignedIn = true
        return issue(life: Self.firstLife, .signedIn)
    }

    private mutating func renew(_ request: Request) -> Response {
        let given = (try? JSON(parsing: request.body))?["refresh_token"]?.stringValue
        guard isSignedIn, given == Self.refreshToken(issued) else { return Self.refusal }
        return issue(life: Self.life, .renewed)
    }

    private mutating func issue(life: Int64, _ event: Event) -> Response {
        issued += 1
        let body: JSON = [
            "access_token": .string(Self.accessToken(issued)), "refresh_token": .string(Self.refreshToken(issued)),
            "expires_in": .integer(life), "user": Self.user,
        ]
        return Response(status: 200, body: body, event: event)
    }

    private func isAuthorized(_ request: Request) -> Bool {
        isSignedIn && request.authorization == "Bearer " + Self.accessToken(issued)
    }

    private static func accessToken(_ number: Int) -> String { "demo-token-\(number)" }
    private static func refreshToken(_ number: Int) -> String { "demo-refresh-\(number)" }

    private static let refusal = Response(status: 401, body: ["message": "The session has ended."])

    /// The profile with which authd uses it.
    /// - Parameter port: on 127.0.0.1.
    package static func profile(port: Int) -> String {
        """
        name = "demo"
        title = "Demo provider"

        [environments]
        local = "http://127.0.0.1:\(port)"

        [sign_in.password]
        label = "E-mail and password"
        fields = [
            { name = "email", label = "E-mail", kind = "email" },
            { name = "password", label = "Password", kind = "password" },
        ]
        [sign_in.password.request]
        method = "POST"
        path = "/session"
        body = { email = "{email}", password = "{password}" }

        [reply]
        access_token = "/access_token"
        refresh_token = "/refresh_token"
        expires_in = "/expires_in"
        user = "/user"

        [errors]
        message = "/message"

        [user]
        id = "/id"
        email = "/email"
        name = "/name"

        [renewal]
        kind = "refresh"
        final_statuses = [401]
        [renewal.request]
        method = "POST"
        path = "/session/refresh"
        body = { refresh_token = "{refresh_token}" }

        [sign_out]
        method = "DELETE"
        path = "/session"
        bearer = true

        [endpoints.me]
        about = "The signed-in user."
        method = "GET"
        path = "/me"

        """
    }
}
