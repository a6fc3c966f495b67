import Settings
import Testing

@testable import Setup

@Suite("The paths of a daemon")
struct DaemonPathsTests {
    private static let house = DaemonPaths.ProcessEnvironment(
        variables: ["HOME": "/home/eva"], isRoot: true, workingDirectory: "/tmp/work")

    @Test("without options and configuration they are the usual ones, and nothing is captured, recorded or measured")
    func usual() {
        let paths = DaemonPaths(DaemonOptions(), Configuration(), in: "/etc/tryck", Self.house)
        #expect(paths.stateDirectory == "/var/lib/tryck")
        #expect(paths.controlSocket == "/run/tryck/control.sock")
        #expect(paths.capture == nil && paths.recording == nil && paths.metricsFile == nil)
    }

    @Test("paths of the configuration begin in its directory, or in the user's with a tilde")
    func configured() {
        var configuration = Configuration()
        configuration.stateDirectory = "state"
        configuration.controlSocket = "~/control.sock"
        configuration.metricsTextfile = "/metrics/tryck.prom"
        let paths = DaemonPaths(DaemonOptions(), configuration, in: "/etc/tryck", Self.house)
        #expect(paths.stateDirectory == "/etc/tryck/state")
        #expect(paths.controlSocket == "/home/eva/control.sock")
        #expect(paths.metricsFile == "/metrics/tryck.prom")
    }

    @Test("options have precedence over the configuration, and begin in the working directory")
    func options() {
        var configuration = Configuration()
        configuration.stateDirectory = "/configured/state"
        configuration.controlSocket = "/configured/control.sock"
        var options = DaemonOptions(stateDirectory: "state", controlSocket: "control.sock")
        options.capture = "capture.log"
        options.record = "/records/day.jsonl"
        let paths = DaemonPaths(options, configuration, in: "/etc/tryck", Self.house)
        #expect(paths.stateDirectory == "/tmp/work/state")
        #expect(paths.controlSocket == "/tmp/work/control.sock")
        #expect(paths.capture == "/tmp/work/capture.log")
        #expect(paths.recording == "/records/day.jsonl")
    }
}
