import Foundation
import JSON
import Testing

/// `tryck demo`, which new users run first.
@Suite("The demo", .serialized, .ownThread)
struct DemoTests {
    @Test("--press performs presses, prints JSON lines, and ends when the last effect is done")
    func script() throws {
        let workshop = try Workshop()
        let demo = try workshop.tryck([
            "demo", "--press", "kitchen:click,kitchen:double_click", "--press", "hall:hold", "--json", "--capture",
            workshop.path("demo.btsnoop"),
        ])
        #expect(try demo.status(within: 60) == 0, "\(demo.text)")
        let lines = try demo.lines.map { try JSONValue(parsing: $0) }
        #expect(Set(lines.compactMap { $0["kind"]?.stringValue }) == ["event", "rule", "publish", "process"])
        let capture = try Data(contentsOf: URL(filePath: workshop.path("demo.btsnoop")))
        #expect(capture.starts(with: "btsnoop\0".utf8))
        let gestures = lines.filter { $0["kind"] == "event" }.compactMap { $0["event"]?.stringValue }
            .filter { $0 != "down" && $0 != "up" }
        #expect(gestures == ["click", "double_click", "hold", "hold_release"])
        let actions = lines.filter { $0["kind"] == "publish" && $0["topic"]?.stringValue?.hasSuffix("/action") == true }
        #expect(actions.compactMap { $0["payload"]?.stringValue } == gestures)
        let processes = lines.filter { $0["kind"] == "process" }
        #expect(processes.map { $0["status"] } == [0, 0])
        #expect(processes.last?["stdout"] == "hall is held: hall\n")
        let completed = lines.filter { $0["outcome"] == "completed" }.compactMap { $0["rule"]?.stringValue }
        #expect(completed == ["kitchen_toggle", "kitchen_evening", "hall_dim", "hall_dim_stop"])
    }

    @Test("rules that declare buttons are demonstrated with these buttons")
    func ownRules() throws {
        let workshop = try Workshop()
        let rules = try workshop.write(
            "home.yaml",
            """
            version: 1
            buttons:
              bath: BF12-C34567
              garden_door: {nickname: garden, model: duo}
            rules:
              - {id: light, triggers: {button: bath, event: click}, actions: {publish: {topic: test/bath, payload: lit}}}
              - {id: gate, triggers: {button: garden_door, event: swipe_left}, actions: {log: open}}

            """)
        let demo = try workshop.tryck([
            "demo", "--rules", rules, "--press", "bath:click,garden_door:swipe_left", "--json",
        ])
        #expect(try demo.status(within: 60) == 0, "\(demo.text)")
        let lines = try demo.lines.map { try JSONValue(parsing: $0) }
        #expect(lines.contains { $0["kind"] == "publish" && $0["topic"] == "test/bath" })
        #expect(lines.contains { $0["kind"] == "event" && $0["button"] == "garden_door" })

        let byUUID = try workshop.write(
            "uuid.yaml", "version: 1\nbuttons: {a: {uuid: \"\(String(repeating: "0a", count: 16))\"}}\n")
        let other = try workshop.tryck(["demo", "--rules", byUUID, "--press", "a:click", "--json"])
        #expect(try other.status(within: 60) == 0, "\(other.text)")
        #expect(
            try other.lines.contains {
                let line = try JSONValue(parsing: $0)
                return line["kind"] == "event" && line["button"] == "a"
            })
    }

    @Test("rules with errors end the demo with the errors, with --json as JSON on standard output")
    func wrongRules() throws {
        let workshop = try Workshop()
        let rules = try workshop.write("home.yaml", "version: 1\nbuttons: {bath: BF12}\n")
        let demo = try workshop.tryck(["demo", "--rules", rules, "--press", "bath:click", "--json"])
        #expect(try demo.status(within: 60) == 1)
        let error = try JSONValue(parsing: try #require(demo.lines.first))
        #expect(error["error"] == "The rules have errors" && error["problems"]?.arrayValue?.isEmpty == false)
    }

    @Test("swipes and turns are complete when the demo ends")
    func movements() throws {
        let workshop = try Workshop()
        let presses = [
            "sofa:swipe_left", "sofa:small_push_turn_20", "sofa:push_turn_3", "desk:turn_10", "desk:push_turn_-20",
            "desk:click",
        ]
        let demo = try workshop.tryck(["demo", "--press", presses.joined(separator: ","), "--json"])
        #expect(try demo.status(within: 60) == 0, "\(demo.text)")
        let lines = try demo.lines.map { try JSONValue(parsing: $0) }
        let events = lines.filter { $0["kind"] == "event" }.compactMap { $0["event"]?.stringValue }
        let gestures = events.filter { !["down", "up"].contains($0) }
        #expect(
            gestures == [
                "swipe_left", "rotate_clockwise", "rotate_clockwise", "click", "rotate_clockwise",
                "rotate_counter_clockwise", "click",
            ])
    }

    @Test("a demo with the page ends in order, and the page with it", arguments: [SIGTERM, SIGINT])
    func page(signal: Int32) throws {
        let workshop = try Workshop()
        let demo = try workshop.tryck(["demo", "--web"])
        try demo.wait(forLineContaining: "http://")
        demo.signal(signal)
        #expect(try demo.status(within: 30) == 0, "\(demo.text)")
    }

    @Test("a stand-by leads after an engine was killed, and each press at three sites switches its lamp once")
    func sites() throws {
        let workshop = try Workshop()
        let demo = try workshop.tryck(["demo", "--sites", "3", "--engines", "2"])
        #expect(try demo.status(within: 120) == 0, "\(demo.text)")
        let lines = demo.lines
        func index(_ part: String) -> Int? { lines.firstIndex { $0.contains(part) } }
        let killed = try #require(index("which leads, is killed; presses go on"), "\(demo.text)")
        let leads = try #require(index(" was killed"), "\(demo.text)")
        let started = try #require(index("is started again, and stands by"), "\(demo.text)")
        let (first, second) = (lines[killed].prefix(2), lines[leads].prefix(2))
        #expect(Set([first, second]) == ["a1", "a2"] && killed < leads && leads < started, "\(demo.text)")
        // Before the end of the first engine, all lamps are switched by it, and afterwards by the other one.
        let isFirst = lines.enumerated().filter { $0.element.contains("switched the lamp") }
            .map { ($0.offset < killed) == $0.element.contains("and \(first) switched") }
        #expect(isFirst.count >= 12 && isFirst.allSatisfy(\.self), "\(demo.text)")
        #expect(lines.last?.contains("presses at 3 sites: each switched its lamp once") == true, "\(demo.text)")
    }

    @Test("a press that does not exist is a usage error")
    func unknownPress() throws {
        let workshop = try Workshop()
        let demo = try workshop.tryck(["demo", "--press", "kitchen:clik"])
        #expect(try demo.status() == 64)
        #expect(demo.text.contains("clik"))
    }

    @Test(
        "keys press the buttons on a terminal, whose settings are restored however the demo ends",
        arguments: [
            "key", "SIGTERM", "SIGHUP",
        ])
    func terminal(_ end: String) throws {
        let workshop = try Workshop()
        // Python's pty is the terminal, with 80 columns and settings that can be compared.
        let script = """
            import fcntl, os, pty, select, signal, struct, sys, termios, time
            leader, follower = pty.openpty()
            fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            before = termios.tcgetattr(follower)
            child = os.fork()
            if child == 0:
                os.setsid()
                fcntl.ioctl(follower, termios.TIOCSCTTY, 0)
                for number in range(3): os.dup2(follower, number)
                os.execv("\(Workshop.built("tryck"))", ["tryck", "demo"])
            seen = b""
            def until(text, seconds=30):
                global seen
                deadline = time.monotonic() + seconds
                while text not in seen:
                    left = deadline - time.monotonic()
                    if left <= 0 or not select.select([leader], [], [], left)[0]:
                        print("missing", text, "in", seen.decode(errors="replace")); sys.exit(3)
                    seen += os.read(leader, 4096)
            until(b"quit")
            os.write(leader, b"k")
            until(b"TOGGLE")
            raw = termios.tcgetattr(follower)
            end = "\(end)"
            if end == "key": os.write(leader, b"q")
            else: os.kill(child, getattr(signal, end))
            deadline = time.monotonic() + 15
            while True:
                done, status = os.waitpid(child, os.WNOHANG)
                if done: break
                if time.monotonic() > deadline: print("does not end"); sys.exit(4)
                if select.select([leader], [], [], 0.1)[0]: seen += os.read(leader, 4096)
            after = termios.tcgetattr(follower)
            text = seen.decode(errors="replace").replace("\\r", "")
            import re
            plain = re.sub(r"\\x1b\\[[0-9;?]*[A-Za-z]", "", text)
            print("raw" if raw != before else "cooked", "restored" if after == before else "broken")
            print("width", max(len(line) for line in plain.split("\\n")))
            print("toggled" if "TOGGLE" in plain else "no message")
            """
        let python = try workshop.start("/usr/bin/python3", ["-c", script])
        #expect(try python.status(within: 90) == 0, "\(python.text)")
        #expect(python.lines.contains("raw restored"), "\(python.text)")
        #expect(python.lines.contains("toggled"), "\(python.text)")
        let width = python.lines.first { $0.hasPrefix("width") }?.split(separator: " ").last.flatMap { Int($0) }
        #expect(width.map { $0 <= 80 } == true, "\(python.text)")
    }
}
