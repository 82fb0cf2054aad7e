#!/usr/bin/python3
"""A person who answers the password prompts of gnome-keyring, by the prompter that its own tests use (libgcr-base-3).

Prints the name on the bus that GNOME_KEYRING_TEST_PROMPTER is to have. Then reads what the person will do at the next
prompts, one a line: "cancel", or "type" and a password. Each is answered with the number of prompts still expected to
come, 0 or 1 for more; "look" only asks for that.
"""

import ctypes
import sys


def main():
    gcr = ctypes.CDLL("libgcr-base-3.so.1")
    gcr.gcr_mock_prompter_start.restype = ctypes.c_char_p
    print(gcr.gcr_mock_prompter_start().decode(), flush=True)
    # As soon as it is shown.
    gcr.gcr_mock_prompter_set_delay_msec(1)
    for line in sys.stdin:
        word, _, password = line.rstrip("\n").partition(" ")
        if word == "cancel":
            gcr.gcr_mock_prompter_expect_password_cancel()
        elif word == "type":
            gcr.gcr_mock_prompter_expect_password_ok(password.encode(), None)
        print(f"left {gcr.gcr_mock_prompter_is_expecting()}", flush=True)


if __name__ == "__main__":
    main()
