import CSecret

/// Why a call of GIO failed.
package enum GLibFailure: Error, Sendable, Equatable {
    case error(GLibError)
    /// There was no result within the limit.
    case timedOut(after: Duration)
    /// The waiting task was cancelled.
    case cancelled
    /// The GLib thread has been stopped.
    case ended

    /// Owns and frees the GError.
    init(taking error: UnsafeMutablePointer<GError>?) {
        guard let error else {
            self = .error(GLibError(domain: .other, code: 0, message: "no reason given"))
            return
        }
        defer { g_error_free(error) }
        self = .error(GLibError(error.pointee))
    }
}

/// A GError, copied.
package struct GLibError: Sendable, Equatable {
    package let domain: Domain
    /// From the domain's enumeration.
    package let code: Int32
    /// Without the name of the D-Bus error.
    package let message: String
    /// The name of the D-Bus error, if one was received.
    package let remoteName: String?

    package enum Domain: Sendable, Equatable {
        case io, dbus, secret, other
    }

    package init(domain: Domain, code: Int32, message: String, remoteName: String? = nil) {
        self.domain = domain
        self.code = code
        self.message = message
        self.remoteName = remoteName
    }

    init(_ error: GError) {
        domain =
            switch error.domain {
            case authd_io_error_domain(): .io
            case authd_dbus_error_domain(): .dbus
            case authd_secret_error_domain(): .secret
            default: .other
            }
        code = error.code
        let text = error.message.map { String(cString: $0) } ?? ""
        var copy = error
        if let name = g_dbus_error_get_remote_error(&copy) {
            remoteName = String(cString: name)
            g_free(name)
        } else {
            remoteName = nil
        }
        let prefix = "GDBus.Error:" + (remoteName ?? "") + ": "
        message = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
    }
}
