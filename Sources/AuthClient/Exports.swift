// One import is enough for a program that calls the agent. AuthConnection exports the types of the protocol in turn.
@_exported public import AuthConnection
