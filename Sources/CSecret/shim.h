// libsecret, GIO and GLib as one module: no other file of the project includes a C header of theirs.
#pragma once

// The functions that speak in object paths tell locked items from unlocked ones and cost one call each, where the
// ones that speak in proxies make five. They are "unstable" in name; their symbols have stood since libsecret 0.13.
#define SECRET_API_SUBJECT_TO_CHANGE 1
#include <libsecret/secret.h>
#include <gio/gio.h>
#include <gio/gunixfdlist.h>
#include <glib-unix.h>

// What Swift cannot say itself: functions with variable arguments, and macros.

/// libsecret's own constructor chooses the shared connection of the process. This runs after it, while the object is
/// still being made and such properties may be set, and goes back to the connection that was asked for. No signals are
/// followed: for them libsecret needs properties that are not loaded here. No call starts a service.
static inline GObject *
authd_secret_service_constructor(GType type, guint count, GObjectConstructParam *properties)
{
    GObjectClass *parent = G_OBJECT_CLASS(g_type_class_peek(SECRET_TYPE_SERVICE));
    GObject *object = parent->constructor(type, count, properties);
    g_object_set(
        object,
        "g-bus-type", G_BUS_TYPE_NONE,
        "g-flags", G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES | G_DBUS_PROXY_FLAGS_DO_NOT_CONNECT_SIGNALS
            | G_DBUS_PROXY_FLAGS_DO_NOT_AUTO_START,
        NULL);
    return object;
}

static inline void
authd_secret_service_class_init(gpointer class, gpointer data)
{
    G_OBJECT_CLASS(class)->constructor = authd_secret_service_constructor;
}

/// A SecretService on a separate connection, not initialised yet.
static inline GAsyncInitable *
authd_secret_service_new(GDBusConnection *connection)
{
    static gsize type = 0;
    if (g_once_init_enter(&type)) {
        GType made = g_type_register_static_simple(
            SECRET_TYPE_SERVICE, "AuthdSecretService", sizeof(SecretServiceClass), authd_secret_service_class_init,
            sizeof(SecretService), NULL, (GTypeFlags)0);
        g_once_init_leave(&type, made);
    }
    return G_ASYNC_INITABLE(
        g_object_new(type, "g-connection", connection, "flags", SECRET_SERVICE_OPEN_SESSION, NULL));
}

static inline SecretService *
authd_secret_service(gpointer object)
{
    return SECRET_SERVICE(object);
}

/// An empty table from strings to what `destroy` frees; keys are copied in with g_strdup by the caller.
static inline GHashTable *
authd_string_table(GDestroyNotify destroy)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, destroy);
}

static inline GQuark authd_secret_error_domain(void) { return SECRET_ERROR; }
static inline GQuark authd_io_error_domain(void) { return G_IO_ERROR; }
static inline GQuark authd_dbus_error_domain(void) { return G_DBUS_ERROR; }

static inline const GVariantType *
authd_variant_type(const gchar *text)
{
    return G_VARIANT_TYPE(text);
}
