import Foundation
import JSON
import Testing

/// Programs that rules start.
@Suite("Programs of rules", .serialized, .ownThread)
struct RuleProgramTests {
    @Test("a program gets its arguments, the event's facts and its input only, and rules can use its output")
    func surroundings() throws {
        let house = try RuleHouse(
            """
            version: 1
            buttons: {\(RuleHouse.kitchen)}
            rules:
              - id: shows
                triggers: {button: kitchen, event: click}
                actions:
                  - run: {argv: [env], env: {OWN: "{{ trigger.event }}$HOME `id`"}, cwd: /}
                    save_as: environment
                  - run:
                      argv: [sh, -c, 'printf "%s|" "$@"; cat; pwd; echo oops >&2', sh, "{{ 'two words; $(id)' }}", "*", --, "{{ '-x' }}"]
                      cwd: /usr
                      stdin: "{{ 'in' ~ trigger.clicks }}\\n"
                    save_as: said
                  - shell: {script: 'printf "%s" "$1 $WORD"; exit 3', args: ["{{ '$(id)' }}"], env: {WORD: "{{ trigger.button }}"}}
                    save_as: failed
                    continue_on_error: true
                  - publish:
                      topic: test/shows
                      json:
                        environment: "{{ results.environment.stdout }}"
                        said: "{{ results.said.stdout }}"
                        complained: "{{ results.said.stderr }}"
                        failed: ["{{ results.failed.ok }}", "{{ results.failed.status }}", "{{ results.failed.stdout }}"]
            """, hasButton: true, environment: ["TRYCK_SECRET": "tin-1234"])
        try house.press()
        let line = try #require(house.messages).line(containing: "test/shows {")
        let shown = try JSONValue(parsing: line.drop { $0 != "{" }.description)
        #expect(shown["said"] == .string("two words; $(id)|*|--|-x|in1\n/usr"))
        #expect(shown["complained"] == "oops")
        #expect(shown["failed"] == [false, 3, "$(id) kitchen"])
        let variables = Dictionary(
            (shown["environment"]?.stringValue ?? "").split(separator: "\n").map { line in
                let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
            }
        ) { first, _ in first }
        #expect(variables["PATH"] == "/usr/local/bin:/usr/bin:/bin" && variables["OWN"] == "click$HOME `id`")
        #expect(variables["TRYCK_RULE"] == "shows" && variables["TRYCK_BUTTON"] == "kitchen")
        #expect(variables["TRYCK_EVENT"] == "click" && variables["TRYCK_CLICKS"] == "1")
        #expect(variables["TRYCK_QUEUED"] == "false" && variables["TRYCK_AGE_MS"].flatMap { Int($0) } != nil)
        #expect(variables["TRYCK_UUID"]?.count == 32 && variables["TRYCK_SERIAL"]?.isEmpty == false)
        #expect(variables["TRYCK_STEPS"] == "0")
        let known: Set = ["PATH", "HOME", "LANG", "TZ", "USER", "OWN", "PWD", "SHLVL", "_"]
        #expect(variables.keys.filter { !known.contains($0) && !$0.hasPrefix("TRYCK_") }.isEmpty)
        #expect(variables["TRYCK_SECRET"] == nil)
    }

    @Test("an argument that looks like an option is refused, also for the command after sudo")
    func options() throws {
        let house = try RuleHouse(
            """
            version: 1
            variables: {word: {initial: -rf}}
            rules:
              - id: plain
                triggers: {button: any, event: click}
                actions: {run: [echo, "{{ variables.word }}"]}
                on_error: {log: "{{ error.code }}"}
              - id: behind
                triggers: {button: any, event: click}
                actions: {run: [env, --, echo, "{{ variables.word }}"]}
                on_error: {log: "{{ error.code }}"}
              - id: dashes
                triggers: {button: any, event: click}
                actions: [{run: [echo, --, "{{ variables.word }}"], save_as: said}, {log: "{{ results.said.stdout }}"}]
              - id: inside
                triggers: {button: any, event: click}
                actions: [{run: [echo, "--word={{ variables.word }}"], save_as: said}, {log: "{{ results.said.stdout }}"}]
              - id: missing
                triggers: {button: any, event: click}
                actions: {run: [tryck-no-such-program]}
                on_error: {log: "{{ error.code }} {{ error.message }}"}
              - id: long
                triggers: {button: any, event: click}
                actions: [{run: [sh, -c, "head -c 100000 /dev/zero | tr '\\\\0' x"], save_as: said}, {log: "{{ length(results.said.stdout) }}"}]
            """, hasBroker: false)
        for (rule, said) in [
            ("plain", "R811"), ("behind", "R811"), ("dashes", "-- -rf"), ("inside", "--word=-rf"), ("long", "65536"),
        ] {
            try house.run(rule)
            #expect(try house.logged() == said, "\(rule)")
        }
        try house.run("missing")
        let missing = try house.logged()
        #expect(missing.hasPrefix("R822 ") && missing.contains("tryck-no-such-program"), "\(missing)")
        #expect(house.daemon.text.contains("W702"))
    }

    @Test("a program that takes too long or is cancelled ends with all processes that it has started")
    func ends() throws {
        let script = "echo $$; sleep 600 & echo $!; wait"
        let house = try RuleHouse(
            """
            version: 1
            rules:
              - id: slow
                triggers: {button: any, event: click}
                actions: {shell: '(\(script)) > slow; true', timeout: 500ms}
                on_error: {log: "{{ error.code }} {{ error.message }}"}
              - id: again
                triggers: {button: any, event: click}
                mode: restart
                actions: [{shell: '(\(script)) >> again', timeout: 10m}, {log: not reached}]
            """, hasBroker: false)
        func processes(_ name: String, _ count: Int) throws -> [Int32] {
            let file = house.workshop.path("state/\(name)")
            var found: [Int32] = []
            try house.workshop.wait {
                found = ((try? String(contentsOfFile: file, encoding: .utf8)) ?? "").split(separator: "\n")
                    .compactMap { Int32($0) }
                return found.count == count
            }
            return found
        }
        func end(_ processes: [Int32]) throws {
            for process in processes { try house.workshop.wait { kill(process, 0) != 0 } }
        }
        try house.run("slow")
        #expect(try house.logged().hasPrefix("R821"))
        try end(processes("slow", 2))
        try house.run("again")
        let first = try processes("again", 2)
        try house.run("again")
        try end(first)
        let second = try Array(processes("again", 4).suffix(2))
        #expect(second.allSatisfy { kill($0, 0) == 0 })
        house.daemon.signal(SIGTERM)
        #expect(try house.daemon.status() == 0)
        try end(second)
        #expect(!house.watch.text.contains("not reached"))
    }
}
