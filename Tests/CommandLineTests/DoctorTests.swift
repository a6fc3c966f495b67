import ButtonModel
import JSON
import Radios
import Rules
import Testing

@testable import CommandSupport
@testable import ControlClient
@testable import DoctorCommands
@testable import Edges
@testable import Platform
@testable import Setup

@Suite("The doctor")
struct DoctorTests {
    @Test("where all is well, each check says so")
    func well() {
        let findings = Diagnosis(Self.well).findings
        #expect(findings.map(\.check) == Finding.Check.allCases.sorted { Self.place($0) < Self.place($1) })
        expectGolden(Self.text(findings), "doctor-well.txt")
        #expect(FindingText.json(findings)["ok"] == true)
    }

    @Test("each planted fault is found, alone, with the command that mends it")
    func faults() {
        var text = ""
        for fault in Fault.all {
            var seen = fault.isWithoutDaemon ? Self.withoutDaemon : Self.well
            let before = Diagnosis(seen).findings
            fault.plant(&seen)
            let news = Diagnosis(seen).findings.filter { !before.contains($0) && $0.state != .ok }
            #expect(news.count == 1, "\(fault.name)")
            #expect(news.allSatisfy { $0.mend != nil }, "\(fault.name)")
            text += "\(fault.name)\n" + Self.text(news) + "\n"
        }
        expectGolden(text, "doctor-faults.txt")
    }

    @Test("a daemon that is down is found, and everything else is looked at without it")
    func noDaemon() {
        expectGolden(Self.text(Diagnosis(Self.withoutDaemon).findings), "doctor-no-daemon.txt")
    }

    @Test("without a configuration, the command that starts a daemon names none")
    func noConfiguration() {
        var seen = Self.withoutDaemon
        seen.configuration = .absent
        seen.daemon = .silent(.notRunning(path: "/run/user/1000/tryck.sock"))
        #expect(Diagnosis(seen).findings.first { $0.check == .daemon }?.mend == "sudo tryck run")
        seen.configuration = Self.well.configuration
        #expect(
            Diagnosis(seen).findings.first { $0.check == .daemon }?.mend
                == "tryck run --config /etc/tryck/tryck.yaml")
    }

    @Test("what only needs attention is no fault")
    func warnings() {
        #expect(FindingText.json([.warning(.rules, "a", mend: "b")])["ok"] == true)
        #expect(FindingText.json([.problem(.rules, "a", mend: "b")])["ok"] == false)
    }

    @Test("an adapter's fault is not taken for the broker's, nor the other way round")
    func order() {
        var seen = Self.well
        seen.daemon = .status(
            Self.status(
                adapter: "powered_off", broker: "disconnected", rules: "error",
                faults: ["the adapter.", "the broker", "the rules", "the store"]))
        let findings = Diagnosis(seen).findings
        #expect(findings.first { $0.check == .adapter }?.sentence == "the adapter")
        #expect(findings.first { $0.check == .broker }?.sentence == "the broker")
        #expect(findings.first { $0.check == .state }?.sentence == "the store")
    }

    @Test(
        "of several radios, one that fails is a warning as long as another works, and is not taken for the broker's fault"
    )
    func radios() {
        func findings(_ states: (String, String)) -> [Finding] {
            func radio(_ name: String, _ state: String) -> JSONValue {
                [
                    "name": .string(name), "state": .string(state),
                    "advice": state == "failed" ? "it is gone: run `sudo rfkill unblock bluetooth`" : .null,
                ]
            }
            var seen = Self.well
            let down = [("attic", states.0), ("hall", states.1)].filter { $0.1 == "failed" }
            guard
                case .object(var members) = Self.status(
                    adapter: "powered_on", broker: "disconnected", rules: "ok",
                    faults: down.map { .string("\($0.0): it is gone: run `sudo rfkill unblock bluetooth`") } + [
                        "the broker"
                    ])
            else { return [] }
            members.append(JSONValue.Member("radios", [radio("attic", states.0), radio("hall", states.1)]))
            seen.daemon = .status(.object(members))
            return Diagnosis(seen).findings
        }
        let one = findings(("failed", "ready"))
        let adapter = one.first { $0.check == .adapter }
        #expect(adapter?.state == .warning && adapter?.mend == "sudo rfkill unblock bluetooth")
        #expect(one.first { $0.check == .broker }?.sentence == "the broker")
        #expect(findings(("failed", "failed")).first { $0.check == .adapter }?.state == .problem)
        #expect(findings(("ready", "starting")).first { $0.check == .adapter }?.state == .warning)
        #expect(findings(("ready", "ready")).first { $0.check == .adapter }?.state == .ok)
    }

    @Test("it says when an adapter alone or a shared one is right, and nothing if no adapter of this machine is used")
    func sharing() {
        var text = ""
        for (isShared, isBlueZRunning, adapters) in [(true, true, 1), (false, true, 2), (false, false, 1)] {
            var seen = Self.withoutDaemon
            seen.adapter = isShared ? .shared("hci0") : .opened("hci:0")
            seen.isBlueZRunning = isBlueZRunning
            seen.adapters = (0..<adapters).map { "hci\($0)" }
            text += Self.text(Diagnosis(seen).findings.filter { $0.check == .sharing })
            seen.usesAdapter = false
            #expect(!Diagnosis(seen).findings.contains { $0.check == .sharing })
        }
        expectGolden(text, "doctor-sharing.txt")
        var seen = Self.well
        let alone = Diagnosis(seen).findings.first { $0.check == .sharing }
        guard case .object(var members) = Self.status() else { return }
        members.append(JSONValue.Member("radios", [["name": "a", "kind": "hci"], ["name": "b", "kind": "bluez"]]))
        seen.daemon = .status(.object(members))
        #expect(Diagnosis(seen).findings.first { $0.check == .sharing } != alone)
    }

    @Test("it says that BlueZ may have too few connections, if buttons have none and no limit is known")
    func crowded() throws {
        func sharing(_ kind: String, links: Int64, of buttons: Int, limit: JSONValue) throws -> Finding? {
            var seen = Self.well
            var members = try #require(Self.status().objectValue)
            members.append(
                JSONValue.Member(
                    "radios",
                    [
                        [
                            "name": "bluez", "transport": "bluez", "kind": .string(kind), "state": "ready",
                            "links": .integer(links), "limit": limit,
                            "buttons": .array((0..<buttons).map { .string("b\($0)") }),
                        ]
                    ]))
            seen.daemon = .status(.object(members))
            return Diagnosis(seen).findings.first { $0.check == .sharing }
        }
        let crowded = try sharing("bluez", links: 3, of: 5, limit: .null)
        #expect(crowded?.state == .warning)
        #expect(crowded?.sentence.contains("3 of 5 buttons are connected") == true)
        #expect(crowded?.sentence.contains("bluetooth: {max_connections: 3}") == true)
        for (kind, links, buttons, limit) in [
            ("bluez", 3, 3, .null), ("bluez", 2, 5, .null), ("bluez", 3, 5, 3), ("hci", 3, 5, .null),
        ] as [(String, Int64, Int, JSONValue)] {
            #expect(try sharing(kind, links: links, of: buttons, limit: limit)?.state == .ok)
        }
    }

    @Test("it says that a radio was full for more than 1 % of a day's presses, and which button to move")
    func full() throws {
        func sharing(_ late: Int64, of presses: Int64, radios: Int = 1) throws -> Finding? {
            var seen = Self.well
            var members = try #require(Self.status().objectValue)
            members += [
                JSONValue.Member(
                    "radios", .array((0..<radios).map { ["name": .string("hci\($0)"), "state": "ready"] })),
                JSONValue.Member(
                    "crowded",
                    [["radio": "hci0", "presses": .integer(presses), "late": .integer(late), "button": "kitchen"]]),
            ]
            seen.daemon = .status(.object(members))
            return Diagnosis(seen).findings.first { $0.check == .sharing }
        }
        #expect(try sharing(2, of: 200)?.state == .ok)
        let found = try sharing(3, of: 200)
        #expect(found?.state == .warning)
        #expect(
            found?.sentence == """
                3 of the 200 presses of the last day found all links of hci0 in use, and came late: add a second adapter, or an \
                ESPHome proxy near kitchen, which had most of them
                """)
        #expect(try sharing(3, of: 200, radios: 2)?.sentence.contains("move kitchen, which had most of them") == true)
    }

    @Test("it names a button that another program has, and neither links of Tryck nor buttons of others")
    func foreignLinks() {
        func sharing(_ state: String, isHeld: Bool, source: JSONValue = .null, address: UInt64 = 0x80E4_DA7B_0001)
            -> Finding?
        {
            var seen = Self.well
            seen.buttons = [
                ["name": "hall", "address": "80:E4:DA:7B:00:01", "state": .string(state), "source": source]
            ]
            seen.blueZLinks = [
                BlueZButtonLink(address: BluetoothAddress(rawValue: address), adapter: "hci1", isHeld: isHeld)
            ]
            return Diagnosis(seen).findings.first { $0.check == .sharing }
        }
        let held = sharing("connecting", isHeld: true)
        #expect(held?.state == .warning)
        let name = "hall (80:E4:DA:7B:00:01) on hci1"
        #expect(held?.sentence.hasPrefix("another program on this machine has \(name)") == true)
        #expect(held?.mend == "bluetoothctl disconnect 80:E4:DA:7B:00:01")
        let connected = sharing("disconnected", isHeld: false)
        #expect(connected?.state == .warning)
        #expect(connected?.sentence.hasPrefix("BlueZ has connected \(name)") == true)
        for state in ["connected", "ready", "disconnecting"] {
            #expect(sharing(state, isHeld: true)?.state == .ok)
        }
        #expect(sharing("connecting", isHeld: true, source: "attic")?.state == .ok)
        #expect(sharing("connecting", isHeld: true, address: 0x80E4_DA7B_0002)?.state == .ok)
    }

    @Test("a path with spaces or quotes is one word of the command")
    func words() {
        #expect("/var/lib/tryck".shellWord == "/var/lib/tryck")
        #expect("/srv/my state".shellWord == "'/srv/my state'")
        #expect("it's $HOME".shellWord == #"'it'\''s $HOME'"#)
        #expect("".shellWord == "''")
    }

    @Test("a report has no secret and no home in it, and only whole lines of the log's end")
    func report() {
        let secret = "copper \"4711\""
        let filler = String(repeating: "x", count: 80) + " \(secret)\n"
        let report = BugReport(
            system: "Linux", findings: [.problem(.rules, "/home/ada/tryck/\(secret) is bad", mend: "true")],
            status: ["faults": [.string("no \(secret)")], "path": "/srv/ada/x", "capture": "/srv/ada/hci.btsnoop"],
            log: String(repeating: filler, count: 1000) + "last line\n", home: "/srv/ada", redaction: .init([secret]))
        let text = report.text
        #expect(!text.contains("4711") && !text.contains("copper") && !text.contains("ada"))
        #expect(text.contains("~/tryck/*** is bad"))
        #expect(text.contains("\ncapture: ~/hci.btsnoop; send it with the report"))
        #expect(text.contains(#""path":"~/x""#))
        #expect(text.contains("last line"))
        #expect(text.utf8.count < BugReport.maximumLog + 1024)
        let log = text.split(separator: "log:\n").last.map(String.init) ?? ""
        #expect(log.hasPrefix("xxxx"))
        #expect(log.split(separator: "\n").dropLast().allSatisfy { $0.hasSuffix("***") && $0.utf8.count == 84 })
    }
}

extension DoctorTests {
    /// A single fault.
    struct Fault {
        var name: String
        var isWithoutDaemon = false
        var plant: (inout Observations) -> Void

        static var all: [Fault] { ofFiles + ofDaemon + withoutDaemon }

        private static var ofFiles: [Fault] {
            [
                Fault(name: "wrong clock") { $0.now = UTCTime(milliseconds: 0) },
                Fault(name: "broken configuration") {
                    $0.configuration = .bad(name: "/etc/tryck/tryck.yaml", errors: 2, position: "3:5", code: "E201")
                },
                Fault(name: "configuration that cannot be read") {
                    $0.configuration = .unusable("/etc/tryck/tryck.yaml cannot be read: Permission denied")
                },
                Fault(name: "broken rules") {
                    $0.rules = .bad(name: "/etc/tryck/rules/my home.yaml", errors: 1, position: "14:15", code: "E301")
                },
                Fault(name: "rules with a warning") {
                    $0.rules = .good(name: "home.yaml", content: "1 rule", warnings: 1)
                },
                Fault(name: "no rules", isWithoutDaemon: true) { $0.rules = .absent },
                Fault(name: "a failing test") { $0.failingTests = 2 },
                Fault(name: "state directory not writable", isWithoutDaemon: true) {
                    $0.stateDirectory.condition = .notWritable(cause: "Permission denied")
                },
                Fault(name: "a file in the way of the state directory") {
                    $0.stateDirectory.condition = .notADirectory(path: "/srv")
                },
                Fault(name: "state directory that cannot be made") {
                    $0.stateDirectory.condition = .cannotBeMade(path: "/srv", cause: "Permission denied")
                },
                Fault(name: "state directory mounted read-only") { $0.stateDirectory.condition = .readOnlyFileSystem },
                Fault(name: "service's state directory of root", isWithoutDaemon: true) {
                    $0.user = "root"
                    $0.hasService = true
                    $0.stateDirectory.path = "/var/lib/tryck"
                    $0.stateDirectory.owner = "root"
                },
                Fault(name: "a file that root left", isWithoutDaemon: true) {
                    $0.stateDirectory.foreignFile = .init(path: "/srv/tryck/tryck.sqlite", owner: "root")
                },
                Fault(name: "a disk so full that nothing is written", isWithoutDaemon: true) {
                    $0.stateDirectory.condition = .full(cause: "No space left on device")
                    $0.stateDirectory.freeSpace = 0
                },
                Fault(name: "state directory open to others") { $0.stateDirectory.mode = 0o755 },
                Fault(name: "full disk") { $0.stateDirectory.freeSpace = StateDirectoryDiagnosis.leastFreeSpace - 1 },
                Fault(name: "damaged database") {
                    $0.stateDirectory.database = .failed(
                        .damaged(path: "/var/lib/tryck/tryck.sqlite", cause: "Page 3 is never used"))
                },
            ]
        }

        private static var ofDaemon: [Fault] {
            [
                Fault(name: "a site that may not read") {
                    let fault: JSONValue =
                        """
                        mqtts://central.example refuses to let this site read engines/+/state: not authorized; allow it in the \
                        broker's access rules
                        """
                    $0.daemon = .status(status(uplink: uplink(fault: fault), faults: [fault]))
                },
                Fault(name: "a site whose broker is not there yet") {
                    $0.daemon = .status(status(uplink: uplink(isConnected: false)))
                },
                Fault(name: "a site without an engine") {
                    $0.daemon = .status(status(uplink: uplink(hasEngine: false)))
                },
                Fault(name: "a site that may not write") {
                    let fault: JSONValue =
                        """
                        mqtts://central.example refuses to let this site write tryck/berlin7/feed/+: Not authorized; allow it in the \
                        broker's access rules
                        """
                    $0.daemon = .status(
                        status(
                            uplink: uplink(fault: fault, refused: ["write tryck/berlin7/feed/+"]), faults: [fault]))
                },
                Fault(name: "a site whose presses no engine takes") {
                    let warning: JSONValue =
                        """
                        an engine is online, and no engine takes the presses of this site: check that sources: of the engine names \
                        tryck/berlin7, and that the access rules of the broker let the engine read tryck/berlin7/feed/# and write \
                        tryck/berlin7/feed/+/want and tryck/berlin7/feed/+/cursor, and let this site write tryck/berlin7/feed/+ and \
                        read tryck/berlin7/feed/+/want and tryck/berlin7/feed/+/cursor
                        """
                    $0.daemon = .status(status(uplink: uplink(warnings: [warning])))
                },
                Fault(name: "a site with engines of two shares") {
                    let fault: JSONValue =
                        """
                        engines with the shares "1 of 1" and "1 of 2" are online, and each acts on the presses of this site; give all \
                        engines the same number of shares in sources: of their tryck.yaml, and restart those that change
                        """
                    $0.daemon = .status(status(uplink: uplink(fault: fault), faults: [fault]))
                },
                Fault(name: "a site whose journal was full") {
                    $0.daemon = .status(status(uplink: uplink(dropped: 16)))
                },
                Fault(name: "a site with an old broker") {
                    $0.daemon = .status(status(uplink: uplink(hasExpiry: false)))
                },
                Fault(name: "two engines with one name") {
                    let fault: JSONValue =
                        """
                        another engine has the name a1 (its installation is 00aa, ours 00ff): give each engine a name and a base \
                        topic of its own, such as engine: {name: a2} and mqtt: {base_topic: a2} in its tryck.yaml, and restart it
                        """
                    $0.daemon = .status(status(engine: engine(fault: fault), faults: [fault]))
                },
                Fault(name: "two engines with different shares") {
                    let fault: JSONValue =
                        """
                        the engine a2 has the share 1 of 2, and this one 1 of 1, so they do not act on the same sites: give both the \
                        same share in sources: of their tryck.yaml, and restart the one that changes
                        """
                    $0.daemon = .status(status(engine: engine(fault: fault), faults: [fault]))
                },
                Fault(name: "two engines with different rules") {
                    let warning: JSONValue =
                        """
                        the engine a2, which stands by for share 1 of 1, has other rules than this one, so a takeover would change \
                        what presses do: give both the same rule files, and run tryck reload on the one that changes
                        """
                    $0.daemon = .status(status(engine: engine(warnings: [warning])))
                },
                Fault(name: "an engine that may not read") {
                    let fault: JSONValue =
                        """
                        the broker refuses to let this engine read tryck/+/feed/+: Not authorized; allow it in the broker's access \
                        rules
                        """
                    $0.daemon = .status(
                        status(engine: engine(fault: fault, refused: ["read tryck/+/feed/+"]), faults: [fault]))
                },
                Fault(name: "an engine that may not claim") {
                    let fault: JSONValue =
                        """
                        the broker refuses to let this engine write tryck/berlin7/feed/+/cursor: Not authorized; allow it in the \
                        broker's access rules
                        """
                    let refused: JSONValue = ["write tryck/berlin7/feed/+/cursor"]
                    $0.daemon = .status(status(engine: engine(fault: fault, refused: refused), faults: [fault]))
                },
                Fault(name: "an engine without a broker") {
                    $0.daemon = .status(status(engine: engine(state: "fenced")))
                },
                Fault(name: "an engine without sites") { $0.daemon = .status(status(engine: engine(sites: []))) },
                Fault(name: "daemon of another version") {
                    $0.daemon = .status(status(version: "0.0.9"))
                },
                Fault(name: "no permission for the control socket") {
                    $0.daemon = .silent(.notPermitted(path: "/run/tryck/control.sock"))
                },
                Fault(name: "rules not read again") {
                    $0.daemon = .status(status(rules: "error", faults: ["the rules"]))
                },
                Fault(name: "button of another model than the rules say") {
                    $0.daemon = .status(
                        status(contradictions: [
                            "\"desk\" is a twist, but the rules declare it as a flic2; write model: twist at home.yaml:3:3"
                        ]))
                },
                Fault(name: "a button of a rule that is not paired") {
                    $0.daemon = .status(
                        status(notices: [#""kitchen" (BA00-A00001, home.yaml:13) is not paired"#]))
                },
                Fault(name: "a button that is too far away") { $0.buttons?.append(["name": "my attic", "rssi": -95]) },
                Fault(name: "a low battery") { $0.buttons?.append(["name": "attic", "battery_low": true]) },
                Fault(name: "buttons that no radio hears well enough") {
                    $0.buttons = [
                        [
                            "name": "hall", "rssi": -99,
                            "radios": [["name": "a", "rssi": -94], ["name": "b", "rssi": -93]],
                        ],
                        ["name": "attic", "rssi": -95, "radios": [["name": "a", "rssi": -60]]],
                        ["name": "shed", "rssi": -100, "radios": .null],
                    ]
                },
                Fault(name: "daemon without permission") {
                    $0.daemon = .status(
                        status(
                            adapter: "unauthorized", faults: [.string("\(TransportFailure.notPermitted(index: 0)).")]))
                },
                Fault(name: "daemon whose port for clients of flicd somebody else has") {
                    let fault: JSONValue =
                        "flicd.listen: clients cannot be served at 127.0.0.1:5551: the address is already in use."
                    $0.daemon = .status(status(flicd: fault, faults: [fault]))
                },
                Fault(name: "daemon without a broker, which is there now") {
                    $0.daemon = .status(
                        status(
                            broker: "disconnected",
                            faults: [.string("\(MQTTFailure.noAnswer(endpoint: "localhost:1883"))")]))
                    $0.broker = .connected("localhost:1883")
                },
                Fault(name: "daemon with a full disk") {
                    $0.daemon = .status(
                        status(faults: [.string("\(StoreFailure.diskFull(path: "/var/lib/tryck/tryck.sqlite"))")]))
                },
            ]
        }

        private static var withoutDaemon: [Fault] {
            [
                adapter("no Bluetooth in the kernel", .noBluetoothInKernel), adapter("no adapter", .noAdapters),
                adapter("not that adapter", .noAdapter(index: 1)),
                adapter("busy adapter", .adapterInUse(index: 0, byBlueZ: false)),
                adapter("no permission", .notPermitted(index: 0)), adapter("switched off", .radioBlocked(index: 0)),
                Fault(name: "no permission to try what the service may", isWithoutDaemon: true) {
                    $0.hasService = true
                    $0.adapter = .failed(.notPermitted(index: 0))
                },
                Fault(name: "adapter of BlueZ", isWithoutDaemon: true) { $0.adapter = .left("hci0", isChosen: false) },
                broker("broker down", .connectionRefused(endpoint: "localhost:1883")),
                broker("wrong password", .notAuthorized(endpoint: "localhost:1883", hasUsername: true)),
                Fault(name: "wrong password in secrets.yaml", isWithoutDaemon: true) {
                    $0.hasSecretPassword = true
                    $0.broker = .failed(.notAuthorized(endpoint: "localhost:1883", hasUsername: true))
                },
                broker("name of the broker that only mDNS knows", .hostNotFound(host: "homeassistant.local")),
                broker("wrong CA", .security(endpoint: "localhost:8883", .untrustedCertificate)),
                broker(
                    "CA file missing",
                    .security(
                        endpoint: "localhost:8883", .unusableFile(option: "mqtt.tls.ca", path: "/etc/tryck/ca.pem"))),
                Fault(name: "broker down elsewhere", isWithoutDaemon: true) {
                    $0.brokerHost = "broker.lan"
                    $0.broker = .failed(.connectionRefused(endpoint: "broker.lan:1883"))
                },
                Fault(name: "no mosquitto to embed", isWithoutDaemon: true) {
                    $0.broker = .embedded(isInstalled: false)
                },
            ]
        }

        private static func adapter(_ name: String, _ failure: TransportFailure) -> Fault {
            Fault(name: name, isWithoutDaemon: true) { $0.adapter = .failed(failure) }
        }

        private static func broker(_ name: String, _ failure: MQTTFailure) -> Fault {
            Fault(name: name, isWithoutDaemon: true) { $0.broker = .failed(failure) }
        }
    }

    static var well: Observations {
        Observations(
            now: Version.builtAt, user: "ada",
            configuration: .good(name: "/etc/tryck/tryck.yaml", content: "without errors", warnings: 0),
            rules: .good(name: "/etc/tryck/rules/home.yaml", content: "3 rules, 2 buttons", warnings: 0),
            brokerHost: "localhost", usesAdapter: true, adapters: ["hci0"], daemon: .status(status()),
            buttons: [["name": "kitchen", "rssi": -92], ["name": "hall", "rssi": .null]],
            stateDirectory: StateDirectoryReport(
                path: "/srv/tryck", condition: .writable, owner: "ada", mode: 0o700, freeSpace: 1 << 30,
                database: .inUse))
    }

    static var withoutDaemon: Observations {
        var seen = well
        seen.daemon = .silent(.notRunning(path: "/run/tryck/control.sock"))
        seen.buttons = nil
        seen.adapter = .opened("hci:0")
        seen.broker = .connected("localhost:1883")
        seen.stateDirectory.database = .sound
        return seen
    }

    static func status(
        version: String = Version.string, adapter: String = "powered_on", broker: String = "connected",
        rules: String = "ok", contradictions: JSONValue = [], notices: JSONValue = [],
        flicd: JSONValue = .null,
        uplink: JSONValue = DoctorTests.uplink(), engine: JSONValue = DoctorTests.engine(), faults: [JSONValue] = []
    ) -> JSONValue {
        [
            "version": .string(version), "uptime_s": 200, "ok": .bool(faults.isEmpty), "faults": .array(faults),
            "adapter": ["transport": "auto", "state": .string(adapter), "address": "00:1A:7D:DA:71:13"],
            "sources": [["url": "flicd://attic:5551", "connected": true, "adapter": "powered_on", "fault": nil]],
            "broker": ["url": "mqtt://localhost:1883", "state": .string(broker)],
            "rules": ["state": .string(rules), "loaded": 3, "contradictions": contradictions, "notices": notices],
            "flicd": ["address": "127.0.0.1:5551", "fault": flicd, "clients": 2, "channels": 5],
            "uplink": uplink, "engine": engine,
        ]
    }

    static func uplink(
        isConnected: Bool = true, hasEngine: Bool = true, hasExpiry: Bool = true, fault: JSONValue = .null,
        warnings: JSONValue = [], refused: JSONValue = [], dropped: JSONValue = 0
    ) -> JSONValue {
        [
            "broker": "mqtts://central.example", "topic": "tryck/berlin7", "connected": .bool(isConnected),
            "fault": fault, "engine_online": .bool(hasEngine), "expiry": .bool(hasExpiry), "unclaimed": 12,
            "warnings": warnings, "refused": refused, "dropped": dropped,
        ]
    }

    static func engine(
        state: String = "leading", sites: JSONValue = ["tryck/paris2"], fault: JSONValue = .null,
        warnings: JSONValue = [], refused: JSONValue = []
    ) -> JSONValue {
        [
            "name": "a1", "share": "1 of 1", "state": .string(state), "term": 3, "fault": fault,
            "warnings": warnings, "refused": refused, "sites": sites,
        ]
    }

    private static func text(_ findings: [Finding]) -> String {
        FindingText.lines(findings, style: .plain).map { $0.rendered(.plain) + "\n" }.joined()
    }

    /// The position of a check in the output.
    private static func place(_ check: Finding.Check) -> Int {
        switch check {
        case .clock: 0
        case .configuration: 1
        case .rules: 2
        case .state: 3
        case .space: 4
        case .database: 5
        case .daemon: 6
        case .adapter: 7
        case .sharing: 8
        case .signal: 9
        case .batteries: 10
        case .sources: 11
        case .broker: 12
        case .uplink: 13
        case .engine: 14
        case .flicd: 15
        }
    }
}
