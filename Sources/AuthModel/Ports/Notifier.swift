/// Shows notices on the user's desktop. Calls neither wait nor fail: without a desktop nothing is shown.
package protocol Notifier: Sendable {
    /// Replaces a notice about the same subject.
    func show(_ notice: Notice)
    func withdraw(_ subject: Notice.Subject)
    /// What the user did with notices; for one listener.
    func responses() -> AsyncStream<NoticeResponse>
}

package enum NoticeResponse: Sendable, Equatable {
    /// The user chose ``Notice/action``.
    case chosen(Notice.Subject)
    /// The user closed it.
    case dismissed(Notice.Subject)
}
