import CSecret

/// Calls back when something comes to be at a path or changes there (inotify(7) through GIO), until it is dropped.
package final class FileArrival {
    /// Keeps the monitor too, which ends with its last reference.
    private let subscription: GLibSubscription

    /// `nil` where nothing can be watched. Belongs to `thread`, as the calls do.
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
