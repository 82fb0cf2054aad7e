package import AuthModel
package import AuthWire

/// A machine without a browser.
package struct NoBrowser: BrowserOpening {
    package init() {}

    package func show(_ url: String) async throws(AgentError) {
        throw AgentError(.unsupported, "There is no browser.", cause: "no_browser")
    }
}

/// A machine without notifications.
package struct NoNotifications: Notifier {
    package init() {}

    package func show(_ notice: Notice) {}
    package func withdraw(_ subject: Notice.Subject) {}
    package func responses() -> AsyncStream<NoticeResponse> { AsyncStream { $0.finish() } }
}
