import CSecret

extension GLibThread {
    /// Calls `ready` on this thread whenever `descriptor` is readable, until the subscription is dropped. The caller keeps the
    /// descriptor open until then.
    package func watch(readable descriptor: Int32, ready: @escaping () -> Void) -> GLibSubscription {
        assertOwned()
        let source = GSourceReference(taking: g_unix_fd_source_new(descriptor, G_IO_IN))
        // GLib calls a descriptor's source with different arguments than its type says (g_unix_fd_source_new).
        let called: @convention(c) (Int32, GIOCondition, gpointer?) -> gboolean = { _, _, data in
            if let data { Unmanaged<ReadyTarget>.fromOpaque(data).takeUnretainedValue().ready() }
            return 1
        }
        g_source_set_callback(
            source.pointer, unsafeBitCast(called, to: GSourceFunc.self),
            Unmanaged.passRetained(ReadyTarget(ready)).toOpaque(),
            { data in
                if let data { Unmanaged<ReadyTarget>.fromOpaque(data).release() }
            })
        attach(source.pointer)
        return GLibSubscription(thread: self) { g_source_destroy(source.pointer) }
    }
}

private final class ReadyTarget {
    let ready: () -> Void

    init(_ ready: @escaping () -> Void) {
        self.ready = ready
    }
}

/// Holds one reference to a GSource.
// @unchecked Sendable: reference counts of sources are atomic, and any thread may destroy one.
private final class GSourceReference: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<GSource>?

    init(taking source: UnsafeMutablePointer<GSource>?) {
        pointer = source
    }

    deinit {
        g_source_unref(pointer)
    }
}
