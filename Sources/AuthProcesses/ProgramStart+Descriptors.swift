internal import CLinux
internal import Glibc

extension ProgramStart {
    /// The child gets an open file under this number.
    package mutating func pass(_ file: CInt, as number: CInt) {
        unsafe posix_spawn_file_actions_adddup2(&actions, file, number)
    }

    /// The child reads nothing there, and what it writes there is lost.
    package mutating func passNothing(as numbers: CInt...) {
        for number in numbers {
            unsafe posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
        }
    }

    /// The child gets no descriptor from this number on.
    package mutating func close(from number: CInt) {
        unsafe posix_spawn_file_actions_addclosefrom_np(&actions, number)
    }
}
