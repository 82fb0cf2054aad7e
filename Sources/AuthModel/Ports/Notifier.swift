/// Shows notices on the user's desktop. Calls neither wait nor fail: without a desktop nothing is shown.
package protocol Notifier: Sendable {
    /// Replaces a notice about the same subject.
    func show(_ notice: Notice)
    func withdraw(_ subject: Notice.Subject)
    /// What the user did with notices; for one listener.
    func responses() -> AsyncStream<NoticeResponse>
}

package enum NoticeResponse: Sendable, Equatable {
    /// The user chose the action with this key, which may be unknown.
    ///
    /// - Parameter activation: the desktop's permission for a new window to get the focus (XDG activation).
    case chosen(Notice.Subject, key: String, activation: String?)
    /// The user closed it.
    case dismissed(Notice.Subject)
}
