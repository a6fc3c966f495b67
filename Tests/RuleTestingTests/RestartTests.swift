import RuleTesting
import Testing

/// The steps `restart` and `reload` of a test.
@Suite("Restarts and reloads in rule tests")
struct RestartTests {
    private static let rules = """
        variables: {n: 1, gone: {initial: 1, persist: false}}
        states: {lamp: {topic: lamp, default: "OFF"}}
        rules:
          - id: stairs
            on_restart: resume
            mode: restart
            triggers: {button: a, event: click}
            actions:
              - publish: {topic: stairs, payload: "ON"}
              - delay: 5m
              - publish: {topic: stairs, payload: "OFF"}
          - id: short
            triggers: {button: a, event: click}
            actions: [{set: {n: "{{ variables.n + 1 }}", gone: 2}}, {delay: 1s}, {log: "{{ states.lamp }}"}]

        """

    @Test("after a restart variables are restored and waiting runs go on with the time they had left")
    func restart() throws {
        try Tested.passes(
            Self.rules, given: "{states: {lamp: 'ON'}}",
            steps: """
                - event: {button: a, event: click}
                - expect: [{publish: {payload: "ON"}}]
                - restart
                - expect_rules: {stairs: started, short: interrupted}
                - expect_variables: {n: 2, gone: 1}
                - advance: 2m
                - restart: 1m
                - advance: 2m
                - expect:
                    - publish: {payload: "OFF"}
                      at: 5m
                - expect_rules: {stairs: completed}
                - event: {button: a, event: click}
                - advance: 1s
                - expect: [{publish: {payload: "ON"}}, {log: "ON"}]
                """)
    }

    @Test("after a long stop waiting runs are interrupted")
    func overdue() throws {
        try Tested.passes(
            Self.rules,
            steps: """
                - event: {button: a, event: click}
                - restart: 16m
                - advance: 1h
                - expect: [{publish: {payload: "ON"}}]
                - expect_rules: {stairs: interrupted}
                """)
    }

    @Test("a train of presses in progress goes on after a restart as a queued event")
    func train() throws {
        try Tested.passes(
            """
            rules:
              - id: two
                triggers: {button: a, event: double_click}
                actions: {log: "{{ trigger.queued }}"}
            """,
            steps: """
                - press: {button: a}
                - restart
                - advance: 100ms
                - press: {button: a}
                - expect: [{log: "true"}]
                """)
    }

    @Test("after a restart runs with programs are interrupted, and cooldowns go on")
    func programs() throws {
        try Tested.passes(
            """
            rules:
              - id: one
                cooldown: 1m
                triggers: {button: a, event: click}
                actions: [{run: [prog]}, {log: done}]
            """,
            given: "{results: [{run: prog, takes: 5s}]}",
            steps: """
                - event: {button: a, event: click}
                - restart: 2s
                - advance: 10s
                - expect: [{run: [prog]}]
                - expect_rules: {one: interrupted}
                - event: {button: a, event: click}
                - expect_rules: {one: dropped_cooldown}
                """)
    }

    private static let other = """
        version: 1
        buttons: {a: BF12-C00001, c: BF12-C00004}
        variables: {n: 1}
        states: {light: {topic: lamp}}
        rules:
          - id: stairs
            triggers: {button: a, event: click}
            actions: {log: "other {{ states.light ?? '?' }} {{ variables.n }}"}
          - {id: fresh, triggers: {button: c, event: click}, actions: {log: fresh}}
        """

    @Test("a reload of another file cancels the runs of changed rules and keeps variables and states")
    func reload() throws {
        try Tested.passes(
            Self.rules, given: "{states: {lamp: 'ON'}}",
            steps: """
                - event: {button: a, event: click}
                - reload: other.yaml
                - expect_rules: {stairs: cancelled, short: cancelled}
                - event: {button: a, event: click}
                - advance: 1h
                - expect: [{publish: {}}, {log: other ON 2}]
                - reload: home.yaml
                - expect_variables: {n: 2}
                - event: {button: a, event: click}
                - expect: [{publish: {}}]
                """, files: ["other.yaml": Self.other])
    }

    @Test("a reload of the same files or of files with errors changes nothing")
    func unchanged() throws {
        try Tested.passes(
            Self.rules,
            steps: """
                - event: {button: a, event: click}
                - reload
                - reload: bad.yaml
                - expect_rules: {stairs: started, short: started}
                - advance: 5m
                - expect: [{publish: {}}, {publish: {payload: "OFF"}}]
                """, files: ["bad.yaml": "version: 2\n"])
    }
}
