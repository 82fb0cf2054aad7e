import CSecret

/// Calls back when a file appears or changes at a path (inotify(7) through GIO), until it is dropped.
package final class FileArrival {
    /// Also retains the monitor, which ends with its last reference.
    private let subscription: GLibSubscription

    /// `nil` if the path cannot be watched. Belongs to `thread`, as the calls do.
    package init?(of path: String, on thread: GLibThread, arrived: @escaping () -> Void) {
        thread.assertOwned()
        guard let file = g_file_new_for_path(path) else { return nil }
        let reference = GObjectReference(taking: UnsafeMutableRawPointer(file))
        guard let monitor = g_file_monitor_file(reference.opaque, G_FILE_MONITOR_NONE, nil, nil) else { return nil }
        subscription = GLibSubscription(
            to: "changed", of: GObjectReference(taking: UnsafeMutableRawPointer(monitor)), on: thread,
            received: arrived)
    }
}
