import CLinux
import Glibc

// A program that is started from a descriptor is named after its number (execveat(2)).
_ = unsafe linux_name_process("authc")
StandardDescriptors.keep()
if let failure = CommandLineCheck.failure {
    failure.report(asJSON: false)
    exit(failure.status.rawValue)
}
// The common commands first: they must not pay for the parser.
exit(HotPath.run() ?? CommandLineParser.run())
