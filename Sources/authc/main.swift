import Glibc

StandardDescriptors.keep()
// The plain forms first: they must not pay for the parser of the others.
exit(HotPath.run() ?? CommandLineParser.run())
