import Testing

@testable import Daemon

@Suite("Surroundings")
struct SurroundingsTests {
    @Test("a process is found by its name, and one that is not there is not")
    func running() {
        let own = String(decoding: readFile("/proc/self/comm").dropLast(), as: UTF8.self)
        #expect(Surroundings.isRunning(own))
        #expect(!Surroundings.isRunning("no-such-daemon"))
    }
}
