import AuthModel
import AuthNetwork
import AuthWire
import GLibRuntime
import Glibc

let (thread, monitors) = (try GLibThread(), try GLibThread())
let watch = SystemNetworkWatch(on: thread, monitors: monitors)
for await reading in watch.readings() {
    print("\(reading.reach) \(reading.monitor.rawValue) \(reading.generation) \(reading.move)")
    fflush(nil)
}
