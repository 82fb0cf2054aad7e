import AuthCore
import AuthNetwork
import AuthWire
import GLibRuntime
import Glibc

let thread = try GLibThread()
let watch = GIONetworkWatch(on: thread)
for await state in watch.states() {
    print(state.rawValue)
    fflush(nil)
}
