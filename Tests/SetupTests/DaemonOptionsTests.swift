import Platform
import Setup
import Testing

@Suite("The daemon's command line and its places")
struct DaemonOptionsTests {
    @Test("options with their values, in both spellings")
    func options() {
        var expected = DaemonOptions()
        expected.configuration = "a.yaml"
        expected.stateDirectory = "/s"
        expected.controlSocket = "/c=1"
        expected.logLevel = "debug"
        expected.capture = "x.btsnoop"
        expected.record = "r"
        #expect(
            DaemonOptions.parse([
                "--config", "a.yaml", "--state-directory=/s", "--control-socket=/c=1", "--log-level", "debug",
                "--capture", "x.btsnoop", "--record", "r",
            ]) == .run(expected))
    }

    @Test(
        "what is not understood is named",
        arguments: [
            (["--confg", "x"], "unknown argument \"--confg\"; see tryckd --help"),
            (["x"], "unknown argument \"x\"; see tryckd --help"),
            (["--config"], "--config needs a value; see tryckd --help"),
            (["--config="], "--config needs a value; see tryckd --help"),
        ])
    func usage(_ arguments: [String], _ sentence: String) {
        #expect(DaemonOptions.parse(arguments) == .usage(sentence))
    }

    @Test("systemd's directories win over the defaults; without rights everything is the user's own")
    func locations() {
        let service = Locations(
            environment: ["STATE_DIRECTORY": "/var/lib/x:/other", "RUNTIME_DIRECTORY": "/run/x"], isRoot: false)
        #expect(service.stateDirectory == "/var/lib/x")
        #expect(service.controlSocket == "/run/x/control.sock")
        let root = Locations(environment: [:], isRoot: true)
        #expect(root.stateDirectory == "/var/lib/tryck")
        #expect(root.controlSocket == "/run/tryck/control.sock")
        let user = Locations(environment: ["HOME": "/home/u", "XDG_RUNTIME_DIR": "/run/user/1"], isRoot: false)
        #expect(user.stateDirectory == "/home/u/.local/state/tryck")
        #expect(user.controlSocket == "/run/user/1/tryck/control.sock")
    }

    @Test(
        "a path is as it stands, below the home directory, or below its base",
        arguments: [("/a", "/a"), ("~/a", "/home/u/a"), ("a/b", "/base/a/b")])
    func paths(_ path: String, _ resolved: String) {
        #expect(resolve(path, in: "/base", home: "/home/u") == resolved)
    }
}
