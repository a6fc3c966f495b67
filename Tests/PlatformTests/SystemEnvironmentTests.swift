import DiskTestSupport
import Testing

@testable import Platform

@Suite("SystemEnvironment")
struct SystemEnvironmentTests {
    @Test("a process is found by its name, and one that is not there is not")
    func running() {
        let own = String(decoding: readFile("/proc/self/comm").dropLast(), as: UTF8.self)
        #expect(SystemEnvironment.isRunning(own))
        #expect(!SystemEnvironment.isRunning("no-such-daemon"))
    }
}
