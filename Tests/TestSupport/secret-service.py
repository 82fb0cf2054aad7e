#!/usr/bin/python3
"""A Secret Service (API draft 0.2) that misbehaves on order, for tests of what authd makes of that.

Its one collection is kept in the file that is its argument, so that it outlives this process. Orders come by D-Bus:
authd.Test.Become(mood) at the service's path, and are in force when it has answered.
"""

import json
import os
import sys
import time

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

SERVICE = "org.freedesktop.Secret.Service"
COLLECTION = "org.freedesktop.Secret.Collection"
ITEM = "org.freedesktop.Secret.Item"
PROMPT = "org.freedesktop.Secret.Prompt"
PROPERTIES = "org.freedesktop.DBus.Properties"
ROOT = "/org/freedesktop/secrets"
HOME = ROOT + "/collection/own"

MOODS = [
    "well",
    "locked",  # the person unlocks it when asked
    "dismissing",  # locked, and the person says no
    "waiting",  # locked, and the person never answers
    "hiding",  # locked, and shows no items while it is
    "deaf",  # locked, and does not answer a search while it is
    "clinging",  # takes writes, and does not answer who wants to remove something
    "asking",  # each write is asked about, and the person says yes
    "refusing",  # each write is asked about, and the person says no
    "silent-writes",  # each write is asked about, and the person never answers
    "tiring",  # takes one more write; from then on as silent-writes
    "failing",  # every call answers an error
    "flaky",  # one call in twenty answers an error
    "dying",  # the next write ends the process
    "forgetful",  # keeps nothing of what it accepts from now on, and what it kept is a minute old
    "undated",  # answers an error to the question when the collection was changed
    "agreeing",  # as asking, and the person says yes to what they were asked while nobody answered, too
]
LOCKED = {"locked", "dismissing", "waiting", "hiding", "deaf"}


class Failed(dbus.DBusException):
    _dbus_error_name = "org.freedesktop.DBus.Error.Failed"


class IsLocked(dbus.DBusException):
    _dbus_error_name = "org.freedesktop.Secret.Error.IsLocked"


class NotSupported(dbus.DBusException):
    _dbus_error_name = "org.freedesktop.DBus.Error.NotSupported"


class NoSuchObject(dbus.DBusException):
    _dbus_error_name = "org.freedesktop.Secret.Error.NoSuchObject"


class Keyring:
    """What is kept, and the mood."""

    def __init__(self, file):
        self.file = file
        self.mood = "well"
        self.calls = 0
        self.items = {}
        self.last = 0
        # When the collection was last changed.
        self.modified = 0
        if os.path.exists(file):
            with open(file, encoding="utf-8") as kept:
                saved = json.load(kept)
            self.items, self.last, self.modified = saved["items"], saved["last"], saved["modified"]

    def save(self):
        self.modified = int(time.time())
        if self.mood != "forgetful":
            self.keep()

    def keep(self):
        with open(self.file + ".new", "w", encoding="utf-8") as kept:
            json.dump({"items": self.items, "last": self.last, "modified": self.modified}, kept)
        os.rename(self.file + ".new", self.file)

    @property
    def locked(self):
        return self.mood in LOCKED

    def count(self):
        """At the beginning of each call but those of the tests."""
        self.calls += 1
        if self.mood == "failing" or (self.mood == "flaky" and self.calls % 20 == 0):
            raise Failed("out of order")

    def find(self, attributes):
        if self.mood == "hiding":
            return []
        wanted = attributes.items()
        return [path for path, item in sorted(self.items.items()) if wanted <= item["attributes"].items()]


class Prompt(dbus.service.Object):
    """A question to a person. What they say: True, False, or nothing ever."""

    shown = 0

    def __init__(self, bus, answer, done):
        Prompt.shown += 1
        self.path_ = f"{ROOT}/prompt/p{Prompt.shown}"
        self.answer, self.done = answer, done
        super().__init__(bus, self.path_)

    @dbus.service.method(PROMPT, in_signature="s")
    def Prompt(self, window):
        if self.answer is not None:
            GLib.idle_add(self.end, self.answer)

    @dbus.service.method(PROMPT)
    def Dismiss(self):
        GLib.idle_add(self.end, False)

    def end(self, answer):
        self.Completed(not answer, self.done(answer))
        self.remove_from_connection()

    @dbus.service.signal(PROMPT, signature="bv")
    def Completed(self, dismissed, result):
        pass


class Item(dbus.service.Object):
    def __init__(self, bus, path, keyring, collection):
        super().__init__(bus, path)
        self.path_, self.keyring, self.collection = path, keyring, collection

    @dbus.service.method(ITEM, out_signature="o", async_callbacks=("answer", "refuse"))
    def Delete(self, answer, refuse):
        try:
            self.keyring.count()
        except Failed as error:
            refuse(error)
            return
        if self.keyring.locked:
            refuse(IsLocked("locked"))
        elif self.keyring.mood == "clinging":
            self.collection.held.append(answer)
        else:
            answer(self.collection.write(lambda: self.collection.drop(self.path_), dbus.ObjectPath("/"))[1])

    @dbus.service.method(PROPERTIES, in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        self.keyring.count()
        if self.keyring.mood == "hiding":
            raise NoSuchObject("not shown")
        item = self.keyring.items[self.path_]
        if name == "Attributes":
            return dbus.Dictionary(item["attributes"], signature="ss")
        return dbus.Boolean(self.keyring.locked) if name == "Locked" else item["label"]


class Collection(dbus.service.Object):
    def __init__(self, bus, keyring):
        super().__init__(bus, HOME)
        self.bus, self.keyring, self.objects = bus, keyring, {}
        self.prompt = None
        self.held = []
        for path in keyring.items:
            self.objects[path] = Item(bus, path, keyring, self)

    def write(self, work, result):
        """Does it now, or when the person has said yes: (what is returned now, the prompt)."""
        mood = self.keyring.mood
        if mood == "dying":
            os._exit(1)
        if mood == "tiring":
            self.keyring.mood = "silent-writes"
        answers = {"asking": True, "agreeing": True, "refusing": False, "silent-writes": None}
        if mood not in answers:
            return (work() or result, dbus.ObjectPath("/"))
        self.prompt = Prompt(self.bus, answers[mood], lambda yes: (work() or result) if yes else dbus.ObjectPath("/"))
        return (dbus.ObjectPath("/"), dbus.ObjectPath(self.prompt.path_))

    def put(self, label, attributes, value, replace):
        same = [p for p, i in self.keyring.items.items() if i["attributes"] == attributes] if replace else []
        self.keyring.last += not same
        path = same[0] if same else f"{HOME}/i{self.keyring.last}"
        self.keyring.items[path] = {"label": label, "attributes": attributes, "value": value}
        self.keyring.save()
        if same:
            self.ItemChanged(path)
        else:
            self.objects[path] = Item(self.bus, path, self.keyring, self)
            self.ItemCreated(path)
        return dbus.ObjectPath(path)

    def drop(self, path):
        if self.keyring.items.pop(path, None) is not None:
            self.keyring.save()
            self.objects.pop(path).remove_from_connection()
            self.ItemDeleted(path)

    @dbus.service.method(COLLECTION, in_signature="a{sv}(oayays)b", out_signature="oo")
    def CreateItem(self, properties, secret, replace):
        self.keyring.count()
        if self.keyring.locked:
            raise IsLocked("locked")
        label = str(properties[ITEM + ".Label"])
        attributes = {str(k): str(v) for k, v in properties[ITEM + ".Attributes"].items()}
        value = bytes(secret[2]).decode()
        return self.write(lambda: self.put(label, attributes, value, replace), None)

    @dbus.service.method(PROPERTIES, in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        self.keyring.count()
        if name == "Locked":
            return dbus.Boolean(self.keyring.locked)
        if name == "Modified" and self.keyring.mood == "undated":
            raise Failed("no such property")
        if name == "Modified":
            return dbus.UInt64(self.keyring.modified)
        return "own" if name == "Label" else dbus.Array(list(self.keyring.items), signature="o")

    @dbus.service.signal(PROPERTIES, signature="sa{sv}as")
    def PropertiesChanged(self, interface, changed, invalidated):
        pass

    @dbus.service.signal(COLLECTION, signature="o")
    def ItemCreated(self, item):
        pass

    @dbus.service.signal(COLLECTION, signature="o")
    def ItemChanged(self, item):
        pass

    @dbus.service.signal(COLLECTION, signature="o")
    def ItemDeleted(self, item):
        pass


class Session(dbus.service.Object):
    @dbus.service.method("org.freedesktop.Secret.Session")
    def Close(self):
        self.remove_from_connection()


class Service(dbus.service.Object):
    def __init__(self, bus, keyring):
        super().__init__(bus, ROOT)
        self.bus, self.keyring, self.sessions = bus, keyring, 0
        self.collection = Collection(bus, keyring)
        self.held = []

    def become(self, mood):
        was_locked, was_hiding = self.keyring.locked, self.keyring.mood == "hiding"
        if mood == "agreeing" and self.collection.prompt is not None:
            self.collection.prompt.end(True)
        self.keyring.mood = mood
        if mood == "forgetful":
            self.keyring.modified -= 60
            self.keyring.keep()
        if mood == "hiding":
            for path in self.keyring.items:
                self.collection.ItemDeleted(path)
        if was_hiding and mood != "hiding":
            for path in self.keyring.items:
                self.collection.ItemCreated(path)
        if was_locked != self.keyring.locked:
            locked = dbus.Dictionary({"Locked": dbus.Boolean(self.keyring.locked)}, signature="sv")
            self.collection.PropertiesChanged(COLLECTION, locked, [])
        return dbus.Array([HOME] if not self.keyring.locked else [], signature="o")

    @dbus.service.method("authd.Test", in_signature="s")
    def Become(self, mood):
        if mood not in MOODS:
            raise Failed(f"no mood is called {mood}")
        self.become(str(mood))

    @dbus.service.method("authd.Test", out_signature="i")
    def Prompts(self):
        """How many a person has been shown."""
        return Prompt.shown

    @dbus.service.method(SERVICE, in_signature="sv", out_signature="vo")
    def OpenSession(self, algorithm, given):
        self.keyring.count()
        if algorithm != "plain":
            raise NotSupported("plain only")
        self.sessions += 1
        path = f"{ROOT}/session/s{self.sessions}"
        Session(self.bus, path)
        return dbus.String("", variant_level=1), dbus.ObjectPath(path)

    @dbus.service.method(SERVICE, in_signature="s", out_signature="o")
    def ReadAlias(self, name):
        self.keyring.count()
        return dbus.ObjectPath(HOME if name == "default" else "/")

    @dbus.service.method(
        SERVICE, in_signature="a{ss}", out_signature="aoao", async_callbacks=("answer", "refuse"))
    def SearchItems(self, attributes, answer, refuse):
        try:
            self.keyring.count()
        except Failed as error:
            refuse(error)
            return
        if self.keyring.mood == "deaf":
            self.held.append(answer)
            return
        found = dbus.Array(self.keyring.find({str(k): str(v) for k, v in attributes.items()}), signature="o")
        none = dbus.Array([], signature="o")
        answer(*((none, found) if self.keyring.locked else (found, none)))

    @dbus.service.method(SERVICE, in_signature="ao", out_signature="aoo")
    def Unlock(self, objects):
        self.keyring.count()
        if not self.keyring.locked:
            return objects, dbus.ObjectPath("/")
        answer = {"locked": True, "dismissing": False}.get(self.keyring.mood)

        def done(yes):
            if yes:
                self.become("well")
            return dbus.Array(objects if yes else [], signature="o")

        return dbus.Array([], signature="o"), dbus.ObjectPath(Prompt(self.bus, answer, done).path_)

    @dbus.service.method(SERVICE, in_signature="aoo", out_signature="a{o(oayays)}")
    def GetSecrets(self, paths, session):
        self.keyring.count()
        secrets = dbus.Dictionary({}, signature="o(oayays)")
        for path in paths:
            if not self.keyring.locked and path in self.keyring.items:
                value = dbus.ByteArray(self.keyring.items[path]["value"].encode())
                secrets[path] = dbus.Struct(
                    (session, dbus.ByteArray(b""), value, "application/json"), signature="oayays")
        return secrets


def main():
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    bus = dbus.SessionBus()
    service = Service(bus, Keyring(sys.argv[1]))
    name = dbus.service.BusName("org.freedesktop.secrets", bus)
    GLib.MainLoop().run()
    del service, name


if __name__ == "__main__":
    main()
