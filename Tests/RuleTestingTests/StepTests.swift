import RuleTesting
import Testing

/// The steps of tests.
@Suite("Steps of rule tests")
struct StepTests {
    private static let clicks = """
        rules:
          - {id: one, triggers: {button: a, event: click}, actions: {log: {message: one, level: warning}}}
          - {id: two, triggers: {button: a, event: double_click}, actions: {log: {message: two, level: warning}}}
          - {id: long, triggers: {button: a, event: hold}, actions: {log: {message: long, level: warning}}}

        """

    @Test("down and up go through the recogniser, and a test has to let the time pass")
    func raw() throws {
        try Tested.passes(
            Self.clicks,
            steps: """
                - down: a
                - advance: 80ms
                - up: a
                - expect: []
                - advance: 420ms
                - expect: [{log: one}]
                """)
    }

    @Test("a button that is down goes down no further")
    func twiceDown() throws {
        try Tested.passes(
            Self.clicks,
            steps: """
                - down: a
                - down: a
                - up: a
                - up: a
                - advance: 1s
                - expect: [{log: one}]
                """)
    }

    @Test("a press takes its time, and ends with its last up")
    func press() throws {
        try Tested.passes(
            Self.clicks,
            steps: """
                - press: {button: a, times: 2, gap: 200ms, for: 100ms}
                - expect:
                    - log: two
                      at: 400ms
                - press: {button: a, for: 1200ms}
                - expect:
                    - log: long
                      at: 1s
                """)
    }

    @Test("an expect sees what is due by then, so a press after it at the same moment is a new one")
    func expectAtTheLimit() throws {
        try Tested.passes(
            Self.clicks,
            steps: """
                - press: {button: a, for: 100ms}
                - advance: 400ms
                - expect: [{log: one}]
                - press: {button: a}
                - advance: 1s
                - expect: [{log: one}]
                """)
    }

    @Test("what a button does at the very end of a wait is judged before the timer")
    func sameInstant() throws {
        try Tested.passes(
            Self.clicks,
            steps: """
                - press: {button: a, times: 2, gap: 400ms, for: 100ms}
                - expect: [{log: two}]
                - advance: 2s
                - down: a
                - advance: 100ms
                - up: a
                - advance: 400ms
                - down: a
                - up: a
                - expect: [{log: two}]
                """)
    }

    @Test("at the end of a wait without a button, what is due is done")
    func due() throws {
        try Tested.passes(
            Self.clicks,
            steps: """
                - down: a
                - advance: 1s
                - expect:
                    - log: long
                      at: 1s
                """)
    }

    @Test("an event needs no presses: as many kinds as there are")
    func events() throws {
        let words = [
            "click", "double_click", "hold", "hold_release", "down", "up", "connected", "disconnected", "battery_low",
        ]
        let rules = words.map {
            "  - {id: is_\($0), triggers: {button: b, event: \($0)}, actions: {log: '{{ trigger.event }}'}}\n"
        }
        let steps = words.map { "- event: {button: b, event: \($0)}\n- expect: [{log: \($0)}]\n" }
        try Tested.passes("rules:\n" + rules.joined(), steps: steps.joined())
    }

    @Test("clicks and patterns")
    func patterns() throws {
        try Tested.passes(
            """
            rules:
              - {id: three, triggers: {button: a, clicks: 3}, actions: {log: "{{ trigger.clicks }}"}}
              - {id: code, triggers: {button: a, pattern: [short, long]}, actions: {log: "{{ trigger.event }}"}}
            """,
            steps: """
                - event: {button: a, clicks: 3}
                - expect: [{log: "3"}]
                - event: {button: a, pattern: [short, long]}
                - expect: [{log: pattern}]
                - press: {button: a}
                - advance: 100ms
                - down: a
                - advance: 1s
                - expect: [{log: pattern}]
                """)
    }

    @Test("turns are collected, and a sum has a direction")
    func turns() throws {
        try Tested.passes(
            """
            rules:
              - id: turn
                triggers: {button: desk, event: [rotate_clockwise, rotate_counter_clockwise]}
                actions: {log: "{{ trigger.event }} {{ trigger.steps }} {{ trigger.part }}"}
            """,
            steps: """
                - event: {button: desk, event: rotate_clockwise, steps: 5}
                - advance: 50ms
                - event: {button: desk, event: rotate_counter_clockwise, steps: 2}
                - expect: []
                - advance: 50ms
                - expect: [{log: rotate_clockwise 3 dial}]
                - event: {button: desk, event: rotate_counter_clockwise, part: push}
                - advance: 100ms
                - expect: [{log: rotate_counter_clockwise -1 push}]
                """)
    }

    @Test("after a hold the button is held until it is let go, and held_for reaches every stage up to it")
    func holds() throws {
        try Tested.passes(
            """
            rules:
              - {id: one, triggers: {button: b, event: hold}, actions: {log: one}}
              - {id: two, triggers: {button: b, event: hold, for: 2s}, actions: {log: two}}
              - {id: four, triggers: {button: b, event: hold, for: 4s}, actions: {log: four}}
              - id: dim
                triggers: {button: b, event: hold}
                actions: {repeat: {while: held, every: 1s, actions: {log: "{{ buttons.b.held }}"}}}
              - id: let_go
                triggers: {button: b, event: hold_release}
                actions: {log: "{{ trigger.held_for }}"}
            """,
            steps: """
                - event: {button: b, event: hold, held_for: 3s}
                - expect: [{log: one}, {log: "true"}, {log: two}]
                - advance: 1s
                - expect: [{log: "true"}]
                - event: {button: b, event: hold_release, held_for: 5s}
                - expect: [{log: 5s}]
                - advance: 5s
                - expect: []
                - event: {button: b, event: hold}
                - expect: [{log: one}, {log: "true"}]
                - event: {button: b, event: up}
                - advance: 5s
                - expect: []
                """)
    }

    @Test("a chord goes down together and comes up together")
    func chord() throws {
        try Tested.passes(
            """
            rules:
              - {id: both, triggers: {chord: [a, b]}, actions: {log: both}}
              - {id: let_go, triggers: {button: [a, b], event: up}, actions: {log: up}, mode: parallel}
            """,
            steps: """
                - chord: [a, b]
                - expect:
                    - log: both
                      at: 0ms
                    - log: up
                      at: 80ms
                    - log: up
                      at: 80ms
                """)
    }

    @Test("late events have an age, and the last of them may say so")
    func late() throws {
        try Tested.passes(
            """
            rules:
              - {id: every, triggers: {button: a, event: click}, actions: {log: "{{ trigger.age }}"}, mode: parallel}
              - id: newest
                triggers: {button: a, event: click}
                queued: {max_age: 1m, keep: last}
                actions: {log: "newest {{ trigger.age }}"}
            """,
            steps: """
                - event: {button: a, event: click, queued: true, age: 2s}
                - expect: [{log: 2s}]
                - expect_rules: {newest: not_matched}
                - event: {button: a, event: click, queued: true, age: 5s, last: true}
                - expect: [{log: newest 5s}]
                - expect_rules: {every: dropped_queued, newest: completed}
                """)
    }

    @Test("states are what messages would bring, with their age")
    func states() throws {
        try Tested.passes(
            """
            states:
              lux: {topic: lux, type: integer, max_age: 10s}
              lamp: {topic: lamp, default: "OFF"}
            rules:
              - id: one
                triggers: {button: a, event: click}
                actions: {log: "{{ states.lux ?? -1 }} {{ states.lamp }}"}
            """,
            given: "{states: {lux: 7}}",
            steps: """
                - event: {button: a, event: click}
                - expect: [{log: 7 OFF}]
                - advance: 9s
                - state: {lux: 8, lamp: "ON"}
                - advance: 9s
                - event: {button: a, event: click}
                - expect: [{log: 8 ON}]
                - advance: 1s
                - event: {button: a, event: click}
                - expect: [{log: -1 ON}]
                """)
    }

    @Test("without the broker messages wait for as long as they may, and go out in their order")
    func broker() throws {
        try Tested.passes(
            """
            rules:
              - id: one
                triggers: {button: a, event: click}
                mode: parallel
                actions:
                  - publish: {topic: out, payload: "{{ broker.connected }}", max_age: 3s}
                  - log: sent
                on_error: {log: {message: "{{ error.code }} {{ error.message }}", level: error}}
              - {id: at_once, triggers: {button: b, event: click}, actions: {publish: {topic: out, max_age: 0s}}}
            """,
            given: "{broker: offline}",
            steps: """
                - event: {button: a, event: click}
                - advance: 2s
                - event: {button: a, event: click}
                - expect: []
                - advance: 1s
                - expect: [{log: R824 the broker was disconnected for too long}]
                - broker: online
                - expect: [{publish: {payload: "false"}}, {log: sent}]
                - broker: offline
                - event: {button: b, event: click}
                - expect: []
                - expect_rules: {one: completed, at_once: failed}
                """)
    }

    @Test("a late end of a hold counts where the hold did")
    func holdEnd() throws {
        try Tested.passes(
            """
            rules: [{id: one, triggers: {button: a, event: [hold, hold_release]}, queued: drop, actions: {log: "{{ trigger.event }}"}}]
            """,
            steps: """
                - event: {button: a, event: hold}
                - event: {button: a, event: hold_release, queued: true, age: 20s}
                - expect: [{log: hold}, {log: hold_release}]
                - event: {button: a, event: hold, queued: true, age: 20s}
                - event: {button: a, event: hold_release, queued: true, age: 20s}
                - expect: []
                """)
    }

    @Test("a message happens when it is handed over, and one that never is does not happen")
    func handedOver() throws {
        try Tested.passes(
            """
            rules:
              - {id: one, triggers: {button: a, event: click}, actions: [{publish: {topic: first, max_age: 10s}}, {publish: {topic: second, qos: 1}}]}
              - {id: two, triggers: {button: b, event: click}, actions: {publish: {topic: never, max_age: 3s}}}
            """,
            given: "{broker: offline}",
            steps: """
                - event: {button: a, event: click}
                - event: {button: b, event: click}
                - advance: 5s
                - broker: online
                - expect:
                    - {publish: {topic: first}, at: 5s}
                    - {publish: {topic: second}, at: 5s}
                - expect_rules: {one: completed, two: failed}
                """)
    }

    @Test("a rule can be run by hand, past its cooldown but not past its conditions")
    func run() throws {
        try Tested.passes(
            """
            variables: {armed: true}
            rules:
              - id: one
                enabled: false
                cooldown: 1h
                triggers: {button: a, event: click}
                conditions: variables.armed
                actions: [{log: "{{ trigger.manual }}"}, {set: {armed: false}}]
            """,
            steps: """
                - run: one
                - expect: [{log: "true"}]
                - expect_variables: {armed: false}
                - run: one
                - expect: []
                - expect_rules: {one: dropped_conditions}
                """)
    }

    private static let given = """
        variables: {level: 1}
        rules:
          - id: ask
            triggers: {button: a, event: click}
            actions:
              - run: [ask, now]
                save_as: it
                continue_on_error: true
              - log: "{{ results.it.ok }} {{ results.it.status }} {{ results.it.stdout }}{{ results.it.stderr }}"
              - shell: "echo hello"
                save_as: sh
              - log: "{{ results.sh.stdout }}"
              - http: https://web/api
                save_as: web
                timeout: 5s
                continue_on_error: true
              - log: "{{ results.web.status }} {{ results.web.body }}"

        """

    @Test("what programs and web servers answer, and how long they take")
    func results() throws {
        try Tested.passes(
            Self.given.replacing("http: https://web/api", with: "http: {url: https://web/api}"),
            given: """
                {results: [{run: ask no, exit: 0, stdout: never}, {run: ask, exit: 3, stderr: no, takes: 2s},
                      {shell: echo, stdout: hello}, {http: "https://web/", status: 404, body: gone, takes: 6s}]}
                """.replacing("ask no,", with: "ask nothing,").split(separator: "\n").joined(separator: " "),
            steps: """
                - event: {button: a, event: click}
                - expect: [{run: [ask, now]}]
                - advance: 2s
                - expect: [{log: "false 3 no"}, {shell: echo hello}, {log: hello}, {http: {url: https://web/api}}]
                - advance: 5s
                - expect: [{log: "0 "}]
                - expect_rules: {ask: completed}
                """)
    }

    @Test("what nothing is said of succeeds, and takes no time")
    func noResults() throws {
        try Tested.passes(
            Self.given.replacing("http: https://web/api", with: "http: {url: https://web/api}"),
            steps: """
                - event: {button: a, event: click}
                - expect:
                    - run: {argv: [ask, now]}
                    - log: "true 0 "
                    - shell: {script: echo hello}
                    - log: ""
                    - http: {method: GET}
                    - log: "200 "
                """)
    }

    @Test("given: the clock, variables, and rules that are disabled")
    func given() throws {
        try Tested.passes(
            """
            variables: {level: {initial: 1, min: 0, max: 10}}
            rules:
              - {id: one, triggers: {button: a, event: click}, actions: {log: "{{ now.date }} {{ now.time }}"}}
              - {id: two, triggers: {button: a, event: click}, actions: {log: "{{ variables.level }}"}}
              - {id: three, triggers: {button: a, event: click}, actions: {log: three}}
            """,
            given: #"{now: "2026-03-01 07:30:15", variables: {level: 50}, disabled: three}"#,
            steps: """
                - advance: 45s
                - event: {button: a, event: click}
                - expect: [{log: "2026-03-01 07:31:00"}, {log: "10"}]
                - expect_rules: {three: disabled}
                """)
    }

    @Test("without a clock it is noon of a January day")
    func noon() throws {
        try Tested.passes(
            "rules: [{id: one, triggers: {button: a, event: click}, actions: {log: '{{ now.date }} {{ now.time }}'}}]",
            steps: "- event: {button: a, event: click}\n- expect: [{log: \"2026-01-15 12:00:00\"}]")
    }
}
