// A program that calls the agent needs the types of the protocol too: one import is enough.
@_exported public import AuthWire
