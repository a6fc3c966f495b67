import ButtonModel
import JSON
import Testing

@testable import CommandSupport
@testable import CommandText
@testable import DaemonCommands

@Suite("Status and buttons")
struct TablesTests {
    @Test("rules are listed with their last run, and with the values that stopped the latest match")
    func rules() throws {
        let rules = try JSONValue(
            parsing: """
                [{"id":"lamp","enabled":true,"stats":{"started":1,"dropped_conditions":3},"running":1,
                  "last_run":{"result":"completed","started_at":"1970-01-01T00:00:00Z"},
                  "last_stopped":{"gate":"dropped_conditions","reason":"states.lux < 20 is false (states.lux = 31)"}},
                 {"id":"fan","enabled":true,"stats":{"started":0,"dropped_busy":1},"last_run":null,
                  "last_stopped":{"gate":"dropped_busy","reason":""}}]
                """)
        let lines = RuleTable.lines(rules.arrayValue ?? [], at: UTCTime(milliseconds: 0)).map { $0.rendered(.plain) }
        #expect(
            lines.map { $0.split(separator: " ").joined(separator: " ") } == [
                "RULE STATE LAST RUN RAN STOPPED",
                "lamp enabled running 1 3, last dropped_conditions: states.lux < 20 is false (states.lux = 31)",
                "fan enabled never 0 1, last dropped_busy",
            ])
    }

    @Test("radios of four kinds are lines with their links and buttons, or with what mends them")
    func radios() throws {
        let radios = try JSONValue(
            parsing: """
                [{"name":"attic","transport":"hci:0","kind":"hci","description":"","state":"ready","advice":null,
                  "links":4,"limit":7,"buttons":["a","b","c","d","e"],"waiting":[]},
                 {"name":"hall","transport":"bluez:1","kind":"bluez","description":"","state":"ready","advice":null,
                  "links":2,"limit":2,"buttons":["f","g","h"],"waiting":["h"]},
                 {"name":"shed","transport":"command:ssh","kind":"hci","description":"","state":"failed",
                  "advice":"ssh ended: Connection refused","links":0,"limit":null,"buttons":[],"waiting":[]},
                 {"name":"porch","transport":"esphome:porch.local","kind":"esphome",
                  "description":"ESPHome 2025.8.0","state":"ready","advice":null,
                  "links":1,"limit":3,"buttons":["i"],"waiting":[]}]
                """)
        let lines = RadioTable.lines(radios.arrayValue ?? [], style: .plain).map { $0.rendered(.plain) }
        expectGolden(lines.map { $0 + "\n" }.joined(), "radios.txt")
    }

    @Test("the status of a site and of an engine without Bluetooth says what needs attention")
    func siteStatus() throws {
        let status = try JSONValue(
            parsing: """
                {"version":"0.1.0","uptime_s":200,"adapter":{"transport":"none","state":"unknown"},
                 "warnings":["no engine takes them"],
                 "engine":{"name":"a1","state":"leading","share":"1 of 1","fault":"another share","sites":["tryck/b"]},
                 "uplink":{"topic":"tryck/berlin7","broker":"mqtt://c","connected":true,"engine_online":true,"buttons":2,
                           "unclaimed":3,"dropped":7,"warnings":["no engine takes them"]},
                 "broker":{"url":"mqtt://localhost:1883","state":"connected"}}
                """)
        let lines = StatusText.lines(status, style: .plain).map { $0.rendered(.plain) }
        #expect(lines.contains("✓ adapter  none"))
        #expect(lines.contains("! engine   a1, leading, 1 site"))
        #expect(lines.contains("! uplink   tryck/berlin7, 2 buttons, 3 messages not claimed, 7 messages dropped"))
        #expect(lines.filter { $0 == "! no engine takes them" }.count == 1)
        let warned = try JSONValue(
            parsing: """
                {"engine":{"name":"a1","state":"leading","share":"1 of 1","fault":null,"warnings":["other rules"],"sites":[]}}
                """)
        let rows = StatusText.lines(warned, style: .plain).map { $0.rendered(.plain) }
        #expect(rows.contains("! engine   a1, leading, 0 sites"))
    }

    @Test("the status is a few aligned lines, then the faults, then what happened lately")
    func status() throws {
        let status = try JSONValue(
            parsing: """
                {"version":"0.1.0","uptime_s":200,"ok":false,"faults":["Connection refused."],
                 "adapter":{"transport":"hci:0","state":"powered_on","address":"00:11:22:33:44:55",
                            "resets":2,"last_fault":{"reason":"x","time":"2026-11-21T12:00:00.000Z","age_s":7200}},
                 "broker":{"url":"mqtt://localhost:1883","state":"disconnected"},
                 "buttons":{"paired":2,"ready":1,"presses":1,"battery_low":["hall","attic"]},"permit_join":false,
                 "flicd":{"address":"127.0.0.1:5551","listening":true,"fault":null,"clients":1,"channels":12},
                 "rules":{"loaded":1,"state":"ok","started":340,"failed":1,"runtime_errors":2,"contradictions":["write model: duo"],
                          "notices":["hall is not paired"]},
                 "last_errors":[
                    {"level":"warning","message":"0","age_s":86400,"count":1},
                    {"level":"warning","message":"the battery is low","age_s":7300,"count":1},
                    {"level":"warning","message":"2","age_s":7200,"count":1},
                    {"level":"warning","message":"3","age_s":300,"count":1},
                    {"level":"error","message":"no space left","age_s":62,"count":1},
                    {"level":"warning","message":"Connection refused.","age_s":2,"count":7}]}
                """)
        let lines = StatusText.lines(status, style: .plain).map { $0.rendered(.plain) }
        #expect(
            lines == [
                "✓ daemon   0.1.0, up 3 min",
                "✓ adapter  hci:0, powered on, 00:11:22:33:44:55, reset 2 times, last fault 2 h ago",
                "✗ broker   mqtt://localhost:1883, disconnected",
                "! rules    1 rule, ran 340 times, failed 1 time, 2 messages of states of the wrong type",
                "! buttons  2 paired, 1 ready, 1 press, low battery: hall and attic",
                "✓ flicd    127.0.0.1:5551, 1 client, 12 channels",
                "✗ Connection refused.", "! write model: duo", "! hall is not paired: tryck pair", "", "lately",
                "  2 h ago    the battery is low",
                "  2 h ago    2",
                "  5 min ago  3",
                "  1 min ago  no space left",
                "  2 s ago    Connection refused. (7 times)",
            ])
    }

    @Test("the table of buttons is as wide as its cells")
    func buttons() throws {
        let buttons = try JSONValue(
            parsing: """
                [{"name":"kitchen","serial":"BA00-A00001","state":"ready","battery_mv":2951,"rssi":-60,"last_seen":"2026-11-21T12:00:00.000Z",
                  "trigger_mode":"click","click_wait_ms":0},
                 {"name":"hall","state":"connecting","battery_mv":null,"rssi":null,"last_seen":"2026-11-21T11:57:00.000Z",
                  "trigger_mode":"click_and_hold","click_wait_ms":null,"click_wait_rule":"dim"},
                 {"name":"attic","state":"disconnected","battery_mv":2600,"battery_low":true,"rssi":-101,"last_seen":null,"trigger_mode":"raw",
                  "click_wait_ms":400,"click_wait_rule":"garage"}]
                """)
        let noon = try #require(UTCTime(parsing: "2026-11-21T12:00:00.000Z"))
        let lines = ButtonTable.lines(buttons.arrayValue ?? [], at: noon).map { $0.rendered(.plain) }
        #expect(
            lines == [
                "NAME     SERIAL       STATE         BATTERY     SIGNAL    LAST SEEN  MODE            A CLICK WAITS",
                "kitchen  BA00-A00001  ready         2.95 V      -60 dBm   now        click           not at all",
                "hall                  connecting    unknown     unknown   3 min ago  click_and_hold  for the release (dim)",
                "attic                 disconnected  2.60 V low  -101 dBm  never      raw             400ms (garage)",
            ])
    }

    @Test("one button, a thing a line: its signal is among them, where it was ever measured")
    func button() throws {
        let now = UTCTime(milliseconds: 0)
        for (rssi, text) in [("-60", "signal           -60 dBm"), ("null", "signal           unknown")] {
            let button = try JSONValue(parsing: #"{"name":"kitchen","state":"ready","rssi":\#(rssi)}"#)
            #expect(ButtonText.lines(button, at: now).map { $0.rendered(.plain) }.contains(text))
        }
    }

    @Test("one button: a trigger mode that follows from the rules is auto, with the mode in effect")
    func triggerMode() throws {
        for (chosen, text) in [("auto", "auto (click)"), ("click", "click")] {
            let button = try JSONValue(parsing: #"{"trigger_mode":"click","trigger_mode_chosen":"\#(chosen)"}"#)
            let line = ButtonText.settings(button).first?.rendered(.plain)
            #expect(line == "trigger mode     \(text)")
        }
    }

    @Test("one button: its battery is compared with the first week that is known")
    func battery() throws {
        let now = UTCTime(milliseconds: 0)
        for (voltages, text) in [
            ("[3012,null,2940]", "battery          2.94 V, about 65 %, 3.01 V in the week of 2025-11-13"),
            ("[2940]", "battery          2.94 V, about 65 %"),
        ] {
            let button = try JSONValue(
                parsing: Array(
                    #"""
                    {"name":"kitchen","state":"ready","battery_mv":2940,"battery":65,
                     "battery_weeks":{"since":"2025-11-13T00:00:00.000Z","mv":\#(voltages)}}
                    """#.utf8))
            #expect(ButtonText.lines(button, at: now).map { $0.rendered(.plain) }.contains(text))
        }
    }

    @Test("one button: presses that never arrived are named beside those that did")
    func missedPresses() {
        let button: JSONValue = ["name": "kitchen", "state": "ready", "press_count": 12, "missed_presses": 3]
        let lines = ButtonText.lines(button, at: UTCTime(milliseconds: 0)).map { $0.rendered(.plain) }
        #expect(lines.contains { $0.hasPrefix("presses          12  3 more never arrived") })
    }

    @Test("without buttons it says how to get one")
    func noButtons() {
        let lines = ButtonTable.lines([], at: UTCTime(milliseconds: 0))
        #expect(lines.map { $0.rendered(.plain) } == ["No button is paired yet. Pair one with: tryck pair"])
    }

    @Test(
        "a time is read back as the daemon wrote it",
        arguments: [0, 951_782_400_123, 1_795_228_800_000, 4_102_444_799_999])
    func time(milliseconds: Int64) {
        let time = UTCTime(milliseconds: milliseconds)
        #expect(UTCTime(parsing: time.description) == time)
    }

    @Test(
        "what is no time is none",
        arguments: ["", "2026-11-21", "2026-13-21T12:00:00.000Z", "2026-11-21T12:00:00.0000"])
    func noTime(text: String) {
        #expect(UTCTime(parsing: text) == nil)
    }

    @Test(
        "spans are written in their largest unit",
        arguments: [(-5, "0 s"), (59, "59 s"), (60, "1 min"), (7200, "2 h"), (172_800, "2 days")])
    func span(seconds: Int64, text: String) {
        #expect(Quantity.span(seconds: seconds) == text)
    }

    @Test(
        "volts are rounded to hundredths",
        arguments: [
            (2954, "2.95 V"), (2955, "2.96 V"), (3000, "3.00 V"), (-1, "0.00 V"), (.max, "9223372036854775.80 V"),
        ])
    func volts(millivolts: Int64, text: String) {
        #expect(Quantity.volts(millivolts: millivolts) == text)
    }
}
