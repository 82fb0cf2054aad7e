"""A program on the session bus, with GLib's own D-Bus client. Not a server.

bus-client.py token PATH [KEY=TEXT…]   prints the token that comes through the descriptor
bus-client.py watch                    prints the objects, and every change of them, until its input ends
bus-client.py flood COUNT              calls COUNT methods at once, and prints how many ended how
bus-client.py crowd COUNT              calls a method on each of COUNT connections, and prints the errors
bus-client.py forge PATH PROCESS       asks for the token, answers for the bus that the caller is PROCESS, and prints
                                       the errors; several times, each on a new connection
"""

import os
import sys

from gi.repository import Gio, GLib

NAME, SESSION = "org.authd", "org.authd.Session1"


def token(path, *options):
    bus = Gio.bus_get_sync(Gio.BusType.SESSION)
    pairs = dict(option.split("=", 1) for option in options)
    arguments = GLib.Variant("(a{sv})", ({key: GLib.Variant("s", text) for key, text in pairs.items()},))
    try:
        reply, descriptors = bus.call_with_unix_fd_list_sync(
            NAME, path, SESSION, "GetToken", arguments, None, Gio.DBusCallFlags.NO_AUTO_START, 30000, None)
    except GLib.Error as error:
        sys.exit(error.message)
    number, details = reply.unpack()
    with os.fdopen(descriptors.get(number)) as pipe:
        print(pipe.read())
    print(sorted(details), details["session"], file=sys.stderr)


def watch():
    manager = Gio.DBusObjectManagerClient.new_for_bus_sync(
        Gio.BusType.SESSION, Gio.DBusObjectManagerClientFlags.DO_NOT_AUTO_START, NAME, "/org/authd", None, None, None)

    def changed(_, proxied, proxy, properties, invalidated):
        for key, value in sorted(properties.unpack().items()):
            print("changed", proxied.get_object_path(), key, value)

    def owned(*_):
        print("owner", "yes" if manager.get_name_owner() else "none")

    manager.connect("object-added", lambda _, found: print("added", found.get_object_path()))
    manager.connect("object-removed", lambda _, found: print("removed", found.get_object_path()))
    manager.connect("interface-proxy-properties-changed", changed)
    manager.connect("notify::name-owner", owned)
    print("objects", *sorted(found.get_object_path() for found in manager.get_objects()))
    loop = GLib.MainLoop()
    GLib.io_add_watch(sys.stdin, GLib.PRIORITY_DEFAULT, GLib.IO_HUP | GLib.IO_IN, lambda *_: loop.quit())
    loop.run()


def flood(count):
    bus = Gio.bus_get_sync(Gio.BusType.SESSION)
    loop = GLib.MainLoop()
    answers = []

    def answered(source, result):
        try:
            source.call_finish(result)
            answers.append("answered")
        except GLib.Error as error:
            known = {"Error.Busy": "busy", "Error.LimitsExceeded": "refused by the bus"}
            answers.append(next((known[name] for name in known if name in error.message), error.message))
        if len(answers) == int(count):
            loop.quit()

    for _ in range(int(count)):
        bus.call(NAME, "/org/authd", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", None, None,
                 Gio.DBusCallFlags.NONE, 60000, None, answered)
    print("sent")
    loop.run()
    print(*(f"{answers.count(kind)} {kind}" for kind in sorted(set(answers))))


def connection():
    flags = Gio.DBusConnectionFlags
    return Gio.DBusConnection.new_for_address_sync(
        os.environ["DBUS_SESSION_BUS_ADDRESS"], flags.AUTHENTICATION_CLIENT | flags.MESSAGE_BUS_CONNECTION, None, None)


def crowd(count):
    for bus in [connection() for _ in range(int(count))]:
        try:
            bus.call_sync(NAME, "/org/authd", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", None, None,
                          Gio.DBusCallFlags.NO_AUTO_START, 30000, None)
            print("answered")
        except GLib.Error as error:
            print(error.message)


def forge(path, process):
    identity = {"UnixUserID": GLib.Variant("u", os.getuid()), "ProcessID": GLib.Variant("u", int(process))}
    loop = GLib.MainLoop()

    def answered(bus, result):
        try:
            bus.call_with_unix_fd_list_finish(result)
            print("a token")
        except GLib.Error as error:
            print(error.message)
        loop.quit()

    # authd numbers its calls from 1 on. What one connection sends arrives in this order.
    for _ in range(20):
        bus = connection()
        bus.call_with_unix_fd_list(NAME, path, SESSION, "GetToken", GLib.Variant("(a{sv})", ({},)), None,
                                   Gio.DBusCallFlags.NO_AUTO_START, 30000, None, None, answered)
        for number in range(1, 400):
            reply = Gio.DBusMessage.new()
            reply.set_message_type(Gio.DBusMessageType.METHOD_RETURN)
            reply.set_destination(NAME)
            reply.set_reply_serial(number)
            reply.set_body(GLib.Variant("(a{sv})", (identity,)))
            bus.send_message(reply, Gio.DBusSendMessageFlags.NONE)
        loop.run()
        bus.close_sync(None)


{"token": token, "watch": watch, "flood": flood, "crowd": crowd, "forge": forge}[sys.argv[1]](*sys.argv[2:])
