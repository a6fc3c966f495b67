import DiskTestSupport
import Testing

@testable import Platform

@Suite("SystemEnvironment")
struct SystemEnvironmentTests {
    @Test("a running process is found by its name")
    func running() {
        let own = String(decoding: readFile("/proc/self/comm").dropLast(), as: UTF8.self)
        #expect(SystemEnvironment.isRunning(own))
        #expect(!SystemEnvironment.isRunning("no-such-daemon"))
    }
}
