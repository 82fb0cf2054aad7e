/// The user's runtime folder (XDG Base Directory Specification). Each kind of socket has a folder in it.
package struct RuntimeFolder: Sendable, Equatable {
    /// Each part has a folder. An agent with a name has `authd-NAME`, so no agent is named `extra`, `http` or `proxy`.
    package enum Part: String, Sendable {
        case agent = "authd"
        case extra = "authd-extra"
        case endpoint = "authd-http"
        case proxies = "authd-proxy"
    }

    /// The prefix of the folder of an agent with a name.
    package static let namedAgentPrefix = "authd-"
    package static let variable = "XDG_RUNTIME_DIR"

    /// Without a slash at its end.
    package let path: String

    /// `$XDG_RUNTIME_DIR`; `nil` if it is not set, or relative, which counts as not set.
    package init?(environment: (String) -> String?) {
        guard let folder = environment(Self.variable), folder.utf8.first == UInt8(ascii: "/") else { return nil }
        path = folder.utf8.last == UInt8(ascii: "/") ? String(folder.dropLast()) : folder
    }

    /// The folder of the user's login session. A machine without a login manager does not have it.
    package init(ofLogin userID: UInt32) {
        path = "/run/user/\(userID)"
    }

    /// `$XDG_RUNTIME_DIR`, otherwise the folder of the login session.
    package init(environment: (String) -> String?, userID: UInt32) {
        self = RuntimeFolder(environment: environment) ?? RuntimeFolder(ofLogin: userID)
    }

    /// The path of a socket in it.
    package func socket(of part: Part, named name: String = "socket") -> String {
        "\(path)/\(Self.socket(of: part, named: name))"
    }

    /// The path of a socket relative to the runtime folder.
    package static func socket(of part: Part, named name: String = "socket") -> String { "\(part.rawValue)/\(name)" }
}
