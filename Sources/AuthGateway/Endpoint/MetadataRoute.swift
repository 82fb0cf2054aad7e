import AuthModel
import AuthWire

/// What a request to the metadata server of Google Compute Engine is about, as far as its client libraries use it.
package struct MetadataRoute: Sendable, Equatable {
    package enum Item: Sendable, Equatable {
        /// Whether there is such a server: only the header of the response counts.
        case ping
        case token
        case email
        case scopes
        case aliases
        /// All of an account but its token, as one object.
        case account
        /// A token for an audience, which must be a JWT.
        case identity(audience: String)
    }

    private static let accounts = "/computeMetadata/v1/instance/service-accounts/"

    /// The server of Google adds this to each response, and its clients look for it.
    package static let flavor = (name: "Metadata-Flavor", value: "Google")

    package let item: Item
    /// As the path names it; `nil` for ``Item/ping``.
    private let account: String?

    /// - Throws: 403 for a request that was not meant for this server, 404, 405.
    package init(_ request: FrontRequest) throws(FrontProblem) {
        try Self.check(request.head)
        let path = request.path
        if ["/", "/computeMetadata/", "/computeMetadata/v1/"].contains(path) {
            (item, account) = (.ping, nil)
            return
        }
        let words = path.dropFirst(Self.accounts.count).split(separator: "/", omittingEmptySubsequences: false)
        guard path.hasPrefix(Self.accounts), words.count == 2 else { throw Self.missing }
        account = String(words[0])
        let query = try request.query
        switch words[1] {
        case "" where query["recursive"]?.lowercased() == "true": item = .account
        case "token": item = .token
        case "email": item = .email
        case "scopes": item = .scopes
        case "aliases": item = .aliases
        case "identity":
            guard let audience = query["audience"], !audience.isEmpty else {
                throw FrontProblem(400, .validation, "An identity token needs one audience.")
            }
            item = .identity(audience: audience)
        default: throw Self.missing
        }
    }

    /// - Parameter email: the name of the only account, beside `default`.
    /// - Throws: 404 for another account.
    package func check(email: String) throws(FrontProblem) {
        guard account.map({ [Self.usualAccount, email, Form.encode(email)].contains($0) }) ?? true else {
            throw Self.missing
        }
    }

    static let usualAccount = "default"

    /// A page, or a proxy that somebody else uses, cannot send these headers as a client of the metadata server does.
    private static func check(_ head: FrontHead) throws(FrontProblem) {
        guard head.values("metadata-flavor") == [flavor.value] else {
            throw FrontProblem(403, .denied, "The request has no header Metadata-Flavor: Google.")
        }
        guard head.values("x-forwarded-for").isEmpty else {
            throw FrontProblem(403, .denied, "The request was forwarded (X-Forwarded-For).")
        }
        guard head.method == "GET" else { throw FrontProblem(405, .unsupported, "Use GET.") }
    }

    /// Client libraries go on without what is not there, such as a project or a universe.
    private static let missing = FrontProblem(404, .notFound, "This metadata server has only a service account.")
}
