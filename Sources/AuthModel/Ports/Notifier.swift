/// Shows notices on the person's desktop. Neither call waits, nor fails: where there is no desktop nothing is shown.
package protocol Notifier: Sendable {
    /// In place of what is shown of the same subject, if anything is.
    func show(_ notice: Notice)
    func withdraw(_ subject: Notice.Subject)
    /// What the person did about them; for one listener.
    func responses() -> AsyncStream<NoticeResponse>
}

package enum NoticeResponse: Sendable, Equatable {
    /// They want what ``Notice/action`` says.
    case chosen(Notice.Subject)
    /// They have put it away.
    case dismissed(Notice.Subject)
}
