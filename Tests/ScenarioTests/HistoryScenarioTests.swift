import ButtonModel
import DiskTestSupport
import Glibc
import Hub
import JSON
import MQTTTopics
import Rules
import Simulator
import TestSupport
import Testing

@testable import ReplayCommands

/// A simulated house that keeps a history, and the commands that read it.
@Suite("History of a house")
struct HistoryScenarioTests {
    /// Rules with states, variables, random numbers, delays, programs and web requests.
    static func rules(kitchen: String = "", hall: String = "home/hall") -> HouseRules {
        HouseRules(
            """
            version: 1
            location: {latitude: 52.09, longitude: 5.12, timezone: UTC}
            buttons: {kitchen: "80:E4:DA:00:00:01", hall: "80:E4:DA:00:00:02"}
            variables: {count: 0, sum: 0}
            states:
              door: {topic: home/door}
              windows: {topic: home/window/+, as: count}
            rules:
              - id: kitchen
                triggers: {button: kitchen, event: click}
                conditions: states.door != 'locked'
                actions:
                  - set: {count: "{{ variables.count + 1 }}"}
                  - publish: {topic: home/kitchen, payload: "{{ variables.count }} {{ random(1, 1000000) }}"}
                  \(kitchen)
              - id: kitchen_scene
                triggers: {button: kitchen, event: double_click}
                actions:
                  - run: [notify, "{{ variables.count }}"]
                  - publish: {topic: home/scene, payload: "{{ states.windows }}"}
              - id: hall
                triggers: {button: hall, event: click}
                actions:
                  - delay: 3s
                  - publish: {topic: \(hall), payload: "{{ states.door }} {{ states.windows }}"}
              - id: hall_long
                triggers: {button: hall, event: hold}
                mode: restart
                actions:
                  - http: {url: "http://home.example/lamp"}
                  - set: {sum: "{{ variables.sum + random(1, 100) }}"}
                  - publish: {topic: home/sum, payload: "{{ variables.sum }}"}
              - id: door
                triggers: {state: door, to: open}
                actions: {publish: {topic: home/bell, payload: ring}}
            """)
    }

    /// A day: pairing, then presses every few minutes, doors and windows, a reload, crashes and an outage of the broker.
    static func day(
        _ history: HouseHistory = HouseHistory(), seed: UInt64 = 1, presses: Int = 300, crashes: Bool = true
    ) -> Household {
        var house = Household(rules: rules(), seed: seed, history: history, isWitnessed: true)
        house.pairAll()
        house.say("closed", on: "home/door")
        var random = SeededGenerator(seed: seed)
        for number in 0..<presses {
            house.wait(.milliseconds(Int.random(in: 5_000...120_000, using: &random)))
            switch Int.random(in: 0..<10, using: &random) {
            case 0: house.say(["open", "closed", "locked"].randomElement(using: &random) ?? "", on: "home/door")
            case 1: house.say(["open", "closed"].randomElement(using: &random) ?? "", on: "home/window/1")
            default: break
            }
            let press = [SimulatedPress.click, .doubleClick, .hold].randomElement(using: &random) ?? .click
            house.press(Bool.random(using: &random) ? "kitchen" : "hall", press)
            if crashes, number % 97 == 96 {
                house.wait(.milliseconds(Int.random(in: 0...4000, using: &random)))
                house.crash(for: .seconds(20))
            }
            if number == presses / 3 {
                house.wait(.seconds(20))
                house.tell(.reloadRules)
            }
            if number == presses / 2 { house.loseBroker() }
            if number == presses / 2 + 3 { house.bringBrokerBack() }
        }
        house.wait(.seconds(20))
        return house
    }

    static func compare(
        _ house: Household, with rules: HouseRules, since beginning: UTCTime? = nil, button: String? = nil,
        isRunning: Bool = true
    ) throws -> Comparison.Result {
        let directory = TemporaryDirectory()
        house.history?.write(to: directory.path)
        var comparison = Comparison(with: rules.set, since: beginning, button: button)
        try HistoryFiles(directory.path, runningUntil: isRunning ? house.clock : nil).read(since: beginning) {
            comparison.take($0)
        }
        return comparison.result()
    }

    /// The lines of `tryck history --json`.
    ///
    /// - Parameter isRunning: false if no process of the house is alive when the history is read.
    static func shown(
        _ house: Household, since beginning: UTCTime? = nil, isRunning: Bool = true
    ) throws -> (lines: [JSONValue], gaps: [String]) {
        let directory = TemporaryDirectory()
        house.history?.write(to: directory.path)
        var run = HistoryRun(since: beginning, button: nil)
        var lines: [JSONValue] = []
        var gaps: [String] = []
        try HistoryFiles(directory.path, runningUntil: isRunning ? house.clock : nil).read(since: beginning) { item in
            let (occurrences, isUsable) = run.take(item)
            for occurrence in occurrences {
                switch occurrence {
                case .line(let line, _): lines.append(line)
                case .gap(let gap): gaps.append(gap)
                }
            }
            return isUsable
        }
        return (lines, gaps)
    }

    @Test("the same rules would have done the same all day", arguments: 1...3 as ClosedRange<UInt64>)
    func same(seed: UInt64) throws {
        let house = Self.day(seed: seed)
        let result = try Self.compare(house, with: Self.rules())
        #expect(result.differences == [])
        #expect(result.errors == [])
        #expect(result.notes == [])
        #expect(result.eventCount > 250)
    }

    @Test("one planted difference is found at each event that it concerns, and nowhere else")
    func planted() throws {
        let house = Self.day()
        let result = try Self.compare(house, with: Self.rules(hall: "home/hall/new"))
        let published = house.published.filter { $0.topicName == "home/hall" }
        #expect(published.count > 30)
        #expect(result.differences.count == published.count)
        for difference in result.differences {
            #expect(difference.button == "hall")
            #expect(difference.event.name == "click")
            #expect(difference.before.map(\.rule) == ["hall"])
            #expect(difference.before.map(\.kind) == ["publish"])
            #expect(difference.after.map { $0.text.hasPrefix("home/hall/new ") } == [true])
            #expect(difference.after.first?.after.total == .seconds(3))
        }
        #expect(
            result.differences.map { "\($0.before.first?.text ?? "")" }
                == published.map { "home/hall \(String(decoding: $0.payload, as: UTF8.self))" })
    }

    @Test("the same rules do the same over several segments, also from the middle of the life of a process")
    func segments() throws {
        let house = Self.day(HouseHistory(length: 1 << 20), presses: 200, crashes: false)
        #expect((house.history?.segmentCount ?? 0) > 3)
        #expect((house.history?.length ?? 0) < 1 << 20)
        let result = try Self.compare(house, with: Self.rules())
        #expect(result.differences == [])
        #expect(result.eventCount > 150)

        // Only the last segments are read, which begin with the state and the rules of that time.
        let directory = TemporaryDirectory()
        house.history?.write(to: directory.path)
        let last = try #require(HistoryFiles(directory.path).segments.last)
        let octets = readFile("\(directory.path)/\(last.name)")
        directory.empty()
        writeFile("\(directory.path)/\(last.name)", octets)
        var run = HistoryRun(since: nil, button: nil)
        var lines: [JSONValue] = []
        try HistoryFiles(directory.path).read(since: nil) { item in
            let (occurrences, isUsable) = run.take(item)
            for case .line(let line, _) in occurrences { lines.append(line) }
            return isUsable
        }
        func publications(_ lines: [JSONValue]) -> [JSONValue] {
            lines.filter { $0["kind"] == "publish" && $0["topic"] == "home/kitchen" }
        }
        #expect(publications(lines).count > 3)
        #expect(publications(house.told).suffix(publications(lines).count) == publications(lines)[...])
    }

    @Test("a process that was killed in the middle of a line leaves a readable history", arguments: [1, 2, 40, 300])
    func torn(count: Int) throws {
        var house = Self.day(presses: 30, crashes: false)
        let before = try Self.shown(house).lines.count
        house.cutHistory(count)
        house.crash(for: .seconds(10))
        house.wait(.seconds(60))
        house.press("kitchen", .click)
        house.wait(.seconds(5))
        let (lines, gaps) = try Self.shown(house)
        #expect(gaps == [])
        #expect(lines.count > before)
        #expect(lines.count { $0["kind"] == "start" } == 2)
        #expect(try Self.compare(house, with: Self.rules()).differences == [])
    }

    @Test("a segment that is lost is a gap, and everything else is compared")
    func lost() throws {
        var house = Self.day(HouseHistory(length: 1 << 20), presses: 200, crashes: false)
        house.loseHistory(1)
        #expect(try Self.shown(house).gaps.count == 1)
        let result = try Self.compare(house, with: Self.rules())
        #expect(result.differences == [])
        #expect(result.notes.count == 1)
        #expect(result.eventCount > 100)
    }

    @Test("a program that only the other rules start has an unknown result, and what follows it is uncertain")
    func unknown() throws {
        let house = Self.day(presses: 20, crashes: false)
        let rules = Self.rules(kitchen: "- run: [measure]\n      - publish: {topic: home/measured, payload: 1}")
        let result = try Self.compare(house, with: rules)
        #expect(!result.differences.isEmpty)
        for difference in result.differences {
            #expect(difference.after.map(\.rule) == difference.after.map { _ in "kitchen" })
            #expect(difference.after.map(\.kind).suffix(2) == ["run", "publish"])
            #expect(difference.after.map(\.isUncertain).suffix(2) == [false, true])
            #expect(difference.after.dropLast(2).map(\.text) == difference.before.map(\.text))
        }
    }

    @Test(
        "an unknown result does not become a failure because the step's time limit is short", arguments: ["1s", "2s"])
    func unknownWithTimeLimit(limit: String) throws {
        let house = Self.day(presses: 20, crashes: false)
        let steps = [
            "- {run: [measure], timeout: \(limit)}",
            "- {http: {url: \"http://home.example/other\"}, timeout: \(limit)}",
            "- publish: {topic: home/measured, payload: 1}",
        ]
        let rules = Self.rules(kitchen: steps.joined(separator: "\n      "))
        let result = try Self.compare(house, with: rules)
        #expect(result.errors == [])
        #expect(!result.differences.isEmpty)
        for difference in result.differences {
            #expect(difference.after.map(\.kind).suffix(3) == ["run", "http", "publish"])
            #expect(difference.after.map(\.isUncertain).suffix(3) == [false, true, true])
        }
    }

    @Test("a variable belongs to the run that has set it, also after a delay and beside other runs")
    func variables() throws {
        func rules(_ step: Int) -> HouseRules {
            HouseRules(
                """
                version: 1
                buttons: {kitchen: "80:E4:DA:00:00:01"}
                variables: {first: 0, second: 0, late: 0}
                rules:
                  - id: first
                    triggers: {button: kitchen, event: click}
                    actions: {set: {first: "{{ variables.first + 1 }}"}}
                  - id: second
                    triggers: {button: kitchen, event: click}
                    actions: {set: {second: "{{ variables.second + \(step) }}"}}
                  - id: late
                    triggers: {button: kitchen, event: click}
                    actions:
                      - delay: 5s
                      - set: {late: "{{ variables.late + \(step) }}"}
                """)
        }
        var house = Household(rules: rules(1), history: HouseHistory(), isWitnessed: true)
        house.pairAll()
        for _ in 0..<2 {
            house.press("kitchen", .click)
            house.wait(.seconds(10))
        }
        let result = try Self.compare(house, with: rules(2))
        #expect(result.differences.count == 2)
        for (number, difference) in result.differences.enumerated() {
            #expect(difference.before.map(\.rule) == ["second", "late"])
            #expect(difference.before.map(\.text) == ["second = \(number + 1)", "late = \(number + 1)"])
            #expect(difference.before.map(\.after.total) == [.zero, .seconds(5)])
            #expect(difference.after.map(\.text) == ["second = \(2 * number + 2)", "late = \(2 * number + 2)"])
        }
        let lines = house.told.filter { $0["kind"] == "variable" }
        #expect(lines.map { $0["rule"] } == ["first", "second", "late", "first", "second", "late"])
        #expect(lines.allSatisfy { $0["run"]?.integerValue != nil })
    }

    /// A step that publishes a random number.
    private static let dice = #"{publish: {topic: home/dice, payload: "{{ random(1, 1000000) }}"}}"#

    @Test(
        "random numbers after waits of a run are shown as they were sent, although each timer fired late",
        arguments: [
            (numbers: 1, steps: ["{delay: 3s}", dice]),
            // A message arrives during the wait.
            (
                numbers: 1,
                steps: [
                    "{delay: 3s}", #"{wait: {until: "states.door == 'open'", timeout: 3s}, else: {log: closed}}"#, dice,
                ]
            ),
            (
                numbers: 6,
                steps: [
                    "{delay: 3s}", dice, "{delay: 2s}", dice,
                    #"{wait: {until: "states.door == 'open'", timeout: 1s}, else: {log: closed}}"#, dice,
                    "{repeat: {count: 3, every: 1s, actions: \(dice)}}",
                ]
            ),
        ])
    func lateTimers(numbers: Int, steps: [String]) throws {
        let rules = HouseRules(
            """
            version: 1
            buttons: {kitchen: "80:E4:DA:00:00:01"}
            states: {door: {topic: home/door, default: closed}}
            rules:
              - id: dice
                triggers: {button: kitchen, event: click}
                actions: [\(steps.joined(separator: ", "))]
            """)
        var house = Household(rules: rules, history: HouseHistory(), isWitnessed: true)
        house.pairAll()
        house.timerLateness = .milliseconds(7)
        for number in 0..<3 {
            house.press("kitchen", .click)
            house.wait(.seconds(4))
            house.say("closed \(number)", on: "home/door")
            house.wait(.seconds(16))
        }
        let sent = house.published.filter { $0.topicName == "home/dice" }.map {
            String(decoding: $0.payload, as: UTF8.self)
        }
        let shown = try Self.shown(house).lines.filter { $0["topic"] == "home/dice" }
        #expect(sent.count == 3 * numbers && Set(sent).count == 3 * numbers)
        #expect(shown.map { $0["payload"]?.stringValue } == sent)
    }

    @Test("restarts of the daemon restore what the other rules have stored, also after a kill in the middle of a line")
    func restarts() throws {
        func rules(_ step: Int, _ more: String = "") -> HouseRules {
            HouseRules(
                """
                version: 1
                location: {latitude: 52.09, longitude: 5.12, timezone: UTC}
                buttons: {kitchen: "80:E4:DA:00:00:01"}
                variables:
                  count: 0
                  fleeting: {initial: 0, persist: false}
                  \(more.isEmpty ? "" : "other: 0")
                rules:
                  - id: kitchen
                    triggers: {button: kitchen, event: click}
                    actions:
                      - set: {count: "{{ variables.count + \(step) }}", fleeting: "{{ variables.fleeting + \(step) }}"}
                      - cycle: {steps: [{log: one}, {log: two}, {log: three}]}
                      - publish: {topic: home/count, payload: "{{ variables.count }} {{ variables.fleeting }}"}
                      \(more)
                """)
        }
        var house = Household(rules: rules(1), history: HouseHistory(), isWitnessed: true)
        house.pairAll()
        for number in 1...6 {
            house.press("kitchen", .click)
            house.wait(.seconds(60))
            if number.isMultiple(of: 2) {
                if number == 4 { house.cutHistory(3) }
                house.crash(for: .seconds(20))
                house.wait(.seconds(60))
            }
        }
        func payloads(_ rules: HouseRules) throws -> [String] {
            try Self.compare(house, with: rules).differences.map { difference in
                difference.after.filter { $0.kind == "publish" }.map(\.text).joined()
            }
        }
        #expect(try payloads(rules(1)) == [])
        #expect(
            try payloads(rules(10)) == [
                "home/count 10 10", "home/count 20 20", "home/count 30 10", "home/count 40 20", "home/count 50 10",
                "home/count 60 20",
            ])
        // A variable that only the other rules have.
        let more = """
            - set: {other: "{{ variables.other + 1 }}"}
                  - publish: {topic: home/other, payload: "{{ variables.other }}"}
            """
        #expect(
            try payloads(rules(1, more)).map { $0.split(separator: "home/other ").last }
                == ["1", "2", "3", "4", "5", "6"])
    }

    @Test("the clock of a segment that begins years after it was set is repeated")
    func longLife() throws {
        let header = RecordingHeader(
            startedAt: UTCTime(milliseconds: 1_795_000_000_000), configuration: HubConfiguration(version: "1"),
            stored: StoredState(installationID: "0123"))
        var house = ReplayedHouse(header, rules: RuleSet())
        let years = Duration.seconds(2 * 366 * 86_400)
        func take(_ input: String, after time: Duration) throws {
            let line = "{\"at_ns\":\(time.nanoseconds),\"input\":\(input)}"
            guard case .input(let input) = try RecordingLine(parsing: Array(line.utf8)) else { return }
            _ = try house.take(input, rules: nil)
        }
        try take(#""wall_clock","utc_ms":1795000000000,"repeated":true"#, after: .milliseconds(1))
        try take(#""start","repeated":true"#, after: years)
        #expect(house.time == header.startedAt + years - .milliseconds(1))
        #expect(throws: ReplayedHouse.Failure.badTime) { try take(#""broker_connected""#, after: years + years) }
    }

    @Test("rules that are edited twice are compared with those of each time")
    func reloaded() throws {
        var house = Household(rules: Self.rules(), history: HouseHistory(), isWitnessed: true)
        house.pairAll()
        house.say("closed", on: "home/door")
        for topicName in ["home/one", "home/two", "home/one"] {
            house.rulesOnDisk = Self.rules(hall: topicName)
            house.tell(.reloadRules)
            for _ in 0..<3 {
                house.press("hall", .click)
                house.wait(.seconds(10))
            }
        }
        #expect(try Self.compare(house, with: Self.rules(hall: "home/one")).differences.count == 3)
        #expect(try Self.compare(house, with: Self.rules(hall: "home/two")).differences.count == 6)
        #expect(try Self.compare(house, with: Self.rules(hall: "home/two"), button: "kitchen").differences == [])
    }

    @Test("other programs read the past between two times, and compare drafts of files with it")
    func past() throws {
        let house = Self.day(presses: 20, crashes: false)
        let directory = TemporaryDirectory()
        try #require(mkdir(directory.path + "/history", 0o700) == 0)
        house.history?.write(to: directory.path + "/history")
        func read(from beginning: UTCTime? = nil, to end: UTCTime? = nil, limit: Int = .max) throws -> [JSONValue] {
            var lines: [JSONValue] = []
            try Past.forEach(in: directory.path, from: beginning, to: end) { occurrence in
                if case .line(let line) = occurrence { lines.append(line) }
                return lines.count < limit
            }
            return lines
        }
        let lines = try read()
        let time = UTCTime(milliseconds: 1_795_000_000_000) + .seconds(600)
        let (first, second) = (try read(to: time), try read(from: time))
        #expect(!first.isEmpty && !second.isEmpty)
        #expect(first + second == lines)
        #expect(try read(limit: 3) == Array(lines.prefix(3)))

        let same = try Past.comparison(in: directory.path, with: [:])
        #expect(same["differ"] == [])
        let draft = Self.rules().text.replacing("topic: home/bell", with: "topic: home/gong")
        let other = try Past.comparison(in: directory.path, with: ["test.yaml": Array(draft.utf8)])
        let bells = house.published.count { $0.topicName == "home/bell" }
        #expect(other["differ"]?.arrayValue?.count == bells)
        #expect(bells > 0)
        #expect(throws: (any Error).self) {
            try Past.comparison(in: directory.path, with: ["test.yaml": Array("rules: x\n".utf8)])
        }
        #expect(throws: (any Error).self) { try Past.comparison(in: "/nowhere", with: [:]) }
    }

    /// Rules whose messages, programs and web requests have all that such a step can have.
    private static func actions(
        qos: Int = 0, header: String? = "Bearer x", room: String? = "hall", stdin: String = "on"
    ) -> HouseRules {
        let header = header.map { ", headers: {Authorization: \"\($0)\"}" } ?? ""
        let room = room.map { ", env: {ROOM: \($0)}" } ?? ""
        return HouseRules(
            """
            version: 1
            buttons: {kitchen: "80:E4:DA:00:00:01", hall: "80:E4:DA:00:00:02"}
            variables: {count: 0}
            rules:
              - id: hook
                triggers: {button: kitchen, event: click}
                actions: [{http: {url: "http://home.example/lamp"\(header)}}, {log: later}]
              - id: program
                triggers: {button: kitchen, event: click}
                actions: [{run: {argv: [notify]\(room), stdin: "\(stdin)"}, save_as: r}, {log: later}]
              - id: lamp
                triggers: {button: kitchen, event: click}
                actions: {publish: {topic: home/lamp, payload: "on", qos: \(qos)}}
            """)
    }

    @Test("an action is found that differs only in what its text does not show, and the difference is named")
    func hidden() throws {
        var house = Household(rules: Self.actions(), history: HouseHistory(), isWitnessed: true)
        house.pairAll()
        house.press("kitchen", .click)
        house.wait(.seconds(10))
        #expect(try Self.compare(house, with: Self.actions()).differences == [])

        func remarks(_ rules: HouseRules) throws -> [String] {
            let difference = try #require(try Self.compare(house, with: rules).differences.first)
            return [difference.before, difference.after].map { $0.map(\.remark).joined() }
        }
        #expect(try remarks(Self.actions(qos: 2)) == ["qos 0", "qos 2"])
        #expect(
            try remarks(Self.actions(header: "Bearer y")) == [
                "header Authorization Bearer x", "header Authorization Bearer y",
            ])
        #expect(
            try remarks(Self.actions(header: nil)) == ["header Authorization Bearer x", "no header Authorization"])
        #expect(try remarks(Self.actions(room: "attic")) == ["env ROOM hall", "env ROOM attic"])
        #expect(try remarks(Self.actions(room: nil)) == ["env ROOM hall", "no env ROOM"])
        #expect(try remarks(Self.actions(stdin: "off")) == ["stdin on", "stdin off"])

        // The recorded result is that of another request and of another program.
        for rules in [Self.actions(header: nil), Self.actions(room: "attic")] {
            let difference = try #require(try Self.compare(house, with: rules).differences.first)
            #expect(difference.after.last?.text == "info: later" && difference.after.last?.isUncertain == true)
            #expect(difference.before.last?.isUncertain == false)
        }
    }

    @Test("a program that does the same under another name of its button is no difference")
    func renamedButton() throws {
        func rules(_ button: String) -> HouseRules {
            HouseRules(
                """
                version: 1
                buttons: {\(button): "80:E4:DA:00:00:01"}
                rules:
                  - {id: bell, triggers: {button: \(button), event: click}, actions: {run: [ring]}}
                """)
        }
        var house = Household(rules: rules("kitchen"), history: HouseHistory(), isWitnessed: true)
        house.pairAll()
        house.press("kitchen", .click)
        house.wait(.seconds(10))
        #expect(try Self.compare(house, with: rules("stove")).differences == [])
    }

    @Test(
        "what depends on an unknown result by way of a variable or of a cycle is uncertain until it is set anew",
        arguments: [0, 1])
    func doubt(value: Int) throws {
        func rules(_ program: String) -> HouseRules {
            HouseRules(
                """
                version: 1
                buttons: {kitchen: "80:E4:DA:00:00:01", hall: "80:E4:DA:00:00:02"}
                variables: {count: 0, copy: 0}
                scripts: {say: {actions: [{log: "{{ variables.copy }}"}]}}
                rules:
                  - id: measure
                    triggers: {button: kitchen, event: click}
                    actions:
                      - {run: [\(program)], save_as: r}
                      - set: {count: "{{ results.r.status + \(value) }}"}
                      - cycle: {steps: [{log: one}, {log: two}]}
                  - id: reset
                    triggers: {button: kitchen, event: double_click}
                    actions: {set: {count: 0, copy: 0}}
                  - id: copy
                    triggers: {button: hall, event: click}
                    actions: {set: {copy: "{{ variables.count }}"}}
                  - id: shown
                    triggers: {button: hall, event: double_click}
                    actions: {script: say}
                """)
        }
        var house = Household(rules: rules("notify"), history: HouseHistory(), isWitnessed: true)
        house.pairAll()
        for (button, press) in [
            ("hall", SimulatedPress.doubleClick), ("kitchen", .click), ("hall", .click), ("hall", .doubleClick),
            ("kitchen", .doubleClick), ("hall", .doubleClick), ("hall", .click), ("kitchen", .click),
        ] {
            house.press(button, press)
            house.wait(.seconds(20))
        }
        let result = try Self.compare(house, with: rules("measure"))
        let uncertain = result.differences.map { difference in
            difference.after.filter(\.isUncertain).map { "\($0.rule) \($0.kind) \($0.text)" }
        }
        // There is no line about a variable that keeps its value.
        let count = value == 0 ? [] : ["measure variable count = 1"]
        #expect(
            uncertain == [
                count + ["measure log info: one"], [value == 0 ? "copy started " : "copy variable copy = 1"],
                ["shown log info: \(value)"], ["measure run measure"] + count + ["measure log info: two"],
            ])
        #expect(result.differences.allSatisfy { $0.before.allSatisfy { !$0.isUncertain } })
    }

    @Test("a step that only the other rules fail in is an error, once")
    func errors() throws {
        let house = Self.day(presses: 20, crashes: false)
        let failing = HouseRules(
            Self.rules().text.replacing("door: {topic: home/door}", with: "door: {topic: home/other}"))
        let result = try Self.compare(house, with: failing)
        #expect(result.notes == ["state door: messages on home/other were not received then, so it is unknown"])
        #expect(result.errors.count { $0.reason.contains("states.door is unknown") } == 1)
        #expect(result.differences.contains { $0.after.contains { $0.kind == "failed" } })
    }

    @Test("a state that a reload has added is unknown before that time only")
    func stateAddedLater() throws {
        var house = Household(rules: Self.actions(), history: HouseHistory(), isWitnessed: true)
        house.pairAll()
        house.press("kitchen", .click)
        house.wait(.seconds(10))
        house.rulesOnDisk = Self.rules()
        house.tell(.reloadRules)
        house.press("kitchen", .click)
        house.wait(.seconds(10))
        let notes = try Self.compare(house, with: Self.rules()).notes
        #expect(notes.count == 2 && notes.allSatisfy { $0.contains("were not received before") }, "\(notes)")
    }

    @Test("of one button, the history shows what its runs have logged, started and published, in order")
    func oneButton() throws {
        let rules: HouseRules = """
            version: 1
            buttons: {kitchen: "80:E4:DA:00:00:01", hall: "80:E4:DA:00:00:02"}
            rules:
              - id: both
                triggers: {button: [kitchen, hall], event: click}
                mode: parallel
                actions:
                  - publish: {topic: "home/{{ trigger.button }}", payload: first}
                  - log: between
                  - publish: {topic: "home/{{ trigger.button }}", payload: second}
                  - run: [notify, "{{ trigger.button }}"]
                  - log: last
            """
        var house = Household(rules: rules, history: HouseHistory(), isWitnessed: true)
        house.pairAll()
        for button in ["kitchen", "hall"] {
            house.press(button, .click)
            house.wait(.seconds(10))
        }
        let directory = TemporaryDirectory()
        house.history?.write(to: directory.path)
        var run = HistoryRun(since: nil, button: "hall")
        var shown: [String] = []
        try HistoryFiles(directory.path).read(since: nil) { item in
            for case .line(let line, _) in run.take(item).occurrences where line["rule"] == "both" {
                let words = ["outcome", "topic", "payload", "message", "command"].compactMap { line[$0]?.description }
                shown.append(words.joined(separator: " "))
            }
            return true
        }
        #expect(
            shown == [
                "\"started\"", "\"home/hall\" \"first\"", "\"between\"", "\"home/hall\" \"second\"",
                "[\"notify\",\"hall\"]", "\"last\"", "\"completed\"",
            ])
    }

    @Test("the history shows what the live stream has shown")
    func stream() throws {
        let house = Self.day(presses: 120)
        let kinds: Set = ["event", "rule", "log", "variable"]
        func essential(_ lines: [JSONValue]) -> [JSONValue] {
            lines.filter { line in line["kind"]?.stringValue.map { kinds.contains($0) } ?? false }
        }
        let (lines, gaps) = try Self.shown(house)
        #expect(gaps == [])
        #expect(essential(lines) == essential(house.told))
        #expect(essential(lines).count > 200)
    }
}
