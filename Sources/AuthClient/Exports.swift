// A program that speaks to the agent names its words too: one import is enough for both.
@_exported public import AuthWire
