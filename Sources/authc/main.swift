import Glibc

StandardDescriptors.keep()
// The common commands first: they must not pay for the parser.
exit(HotPath.run() ?? CommandLineParser.run())
