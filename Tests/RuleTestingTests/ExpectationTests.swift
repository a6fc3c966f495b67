import RuleTesting
import Testing

/// The expectations of tests, and the text of their failures.
@Suite("Expectations of rule tests")
struct ExpectationTests {
    private static func rule(_ actions: String, _ more: String = "") -> String {
        "\(more)\nrules:\n  - {id: one, triggers: {button: a, event: click}, actions: \(actions)}"
    }

    private static let click = "- event: {button: a, event: click}\n"

    @Test("every field of an effect can be expected or omitted")
    func fields() throws {
        try Tested.passes(
            """
            rules:
              - id: one
                triggers: {button: a, event: click}
                actions:
                  - publish: {topic: t, json: {b: 1, a: [true, "x"]}, qos: 1, retain: true}
                  - run: {argv: [prog, --, "{{ trigger.button }}"], env: {X: "1"}, cwd: /tmp, stdin: in}
                  - shell: {script: "echo $1", args: [word], env: {Y: "2"}, stdin: in}
                  - http: {url: "https://web/x", method: POST, headers: {Accept: text/plain}, json: {n: 2}}
                  - log: {message: heard, level: error}
            """,
            steps: Self.click + """
                - expect:
                    - publish: {topic: t, json: {a: [true, x], b: 1.0}, qos: 1, retain: true}
                    - run: {argv: [prog, --, a], env: {X: "1", TRYCK_EVENT: click}, cwd: /tmp, stdin: in}
                    - shell: {script: "echo $1", args: [word], env: {Y: "2"}, stdin: in}
                    - http: {url: "https://web/x", method: POST, headers: {accept: text/plain}, json: {n: 2}}
                    - log: {message: heard, level: error}
                - event: {button: a, event: click}
                - expect: [{publish: {}}, {run: {}}, {shell: {}}, {http: {}}, {log: {}}]
                - expect: []
                """)
    }

    @Test("json is compared whole, and json_includes compares only the keys that it names, in depth")
    func partOfJSON() throws {
        let rules = Self.rule(#"{publish: {topic: t, json: {a: 1, b: {c: [1, 2], d: x}}}}"#)
        for wanted in ["{a: 1.0}", "{b: {d: x}}", "{b: {c: [1, 2]}}", "{}"] {
            try Tested.passes(rules, steps: Self.click + "- expect: [{publish: {json_includes: \(wanted)}}]")
        }
        for wrong in ["{a: 2}", "{e: 1}", "{b: {c: [1]}}", "{b: x}", "[]"] {
            let text = try Tested.failure(
                rules, steps: Self.click + "- expect: [{publish: {json_includes: \(wrong)}}]")
            #expect(!text.contains("compared whole"))
        }
        let text = try Tested.failure(
            rules, steps: Self.click + "- expect: [{publish: {topic: t, json: {a: 2, b: {c: [1]}, e: 1}}}]")
        #expect(
            text.contains(
                """
                  json      /a: expected 2, happened 1
                            /b/c: expected [1], happened [1,2]
                            /b/d: not expected, happened "x"
                            /e: expected 1, and is absent
                            json is compared whole; for a part write json_includes
                """))
    }

    @Test("a failure marks only the effects that have no counterpart")
    func marks() throws {
        let text = try Tested.failure(
            Self.rule("[{publish: {topic: a}}, {publish: {topic: b}}, {publish: {topic: c}}]"),
            steps: Self.click + "- expect: [{publish: {topic: a}}, {publish: {topic: x}}, {publish: {topic: c}}]")
        #expect(
            text.hasPrefix(
                """
                  expected  publish a
                !           publish x
                            publish c
                  happened  publish a\u{20}
                !           publish b\u{20}
                            publish c\u{20}
                """))
    }

    @Test("a failure says of each rule that could have matched why it did not, even if nothing happened")
    func unmatched() throws {
        let text = try Tested.failure(
            """
            rules:
              - {id: one, triggers: {button: a, event: double_click}, actions: {log: x}}
              - {id: two, triggers: {button: b, event: click}, actions: {log: x}}
              - {id: three, triggers: {button: a, event: click}, conditions: "1 == 2", actions: {log: x}}
              - {id: four, fallback: true, triggers: {button: a, event: click}, actions: {log: x}}
              - {id: five, fallback: true, triggers: {button: any, event: hold}, actions: {log: x}}
              - {id: six, triggers: {chord: [a, b]}, actions: {log: x}}
            """,
            steps: Self.click + "- expect: [{log: y}]")
        #expect(
            text == """
                ! expected  log y
                ! happened  log info x
                  why       three › dropped_conditions: 1 == 2 is false
                            four › actions[0].log: info: x
                            one › not_matched: a had click, and it needs double_click
                            five › not_matched: a had click, and it needs hold
                            six › not_matched: a had click, and it needs chord
                """)
        let press = try Tested.failure(
            Self.rule("{log: x}", "buttons2: 0").replacing("buttons2: 0\n", with: ""),
            steps: "- event: {button: a, event: down}\n- expect: [{log: x}]")
        #expect(press.hasSuffix("  why       one › not_matched: a had down, and it needs click"))
    }

    @Test("a failure says why a change of a state started no rule")
    func unmatchedStates() throws {
        func why(_ trigger: String, given: String = "{}", _ steps: String) throws -> String? {
            let text = try Tested.failure(
                """
                states: {door: {topic: door, type: boolean}, level: {topic: level, type: integer}}
                rules: [{id: one, triggers: \(trigger), actions: {publish: {topic: x}}}]
                """, given: given, steps: steps + "\n- expect: [{publish: {topic: x}}]")
            guard let start = text.firstRange(of: "  why       ") else { return nil }
            return String(text[start.upperBound...])
        }
        #expect(
            try why("{state: door, to: true}", "- state: {door: true}")
                == "one › not_matched: door was unknown, and its first value is no change; give it a value in given: or by an "
                + "earlier step")
        #expect(
            try why("{state: door, to: false}", given: "{states: {door: false}}", "- state: {door: true}")
                == "one › not_matched: door became true, which to: does not accept")
        #expect(
            try why("{state: door, from: true}", given: "{states: {door: false}}", "- state: {door: true}")
                == "one › not_matched: door was false, which from: does not accept")
        #expect(
            try why("{state: level, to: new > old + 5}", given: "{states: {level: 3}}", "- state: {level: 7}")
                == "one › not_matched: level became 7, which to: does not accept")
        #expect(
            try why("{state: door}", given: "{states: {door: false}}", "- state: {door: false}")
                == "one › not_matched: door was false already")
        #expect(
            try why(
                "{state: door, to: true, for: 3m}", given: "{states: {door: false}}",
                "- state: {door: true}\n- advance: 2m\n- state: {door: false}\n- advance: 2m")
                == "one › not_matched: door became true, but was not so for 3m; door became false, which to: does not accept"
        )
        #expect(try why("{button: a, event: click}", "- state: {door: true}") == nil)
    }

    @Test("a failure says how long after the last step the time of a rule comes, if a test waits for it")
    func laterTime() throws {
        let rules = """
            rules:
              - {id: one, triggers: {at: ['12:05', '12:10']}, actions: {publish: {topic: x}}}
              - {id: two, triggers: {at: '12:05', weekday: mon}, actions: {publish: {topic: x}}}
            """
        func failure(_ steps: String) throws -> String {
            try Tested.failure(rules, steps: steps + "- expect: [{publish: {topic: y}}]")
        }
        let early = try failure("- advance: 4m\n")
        #expect(
            early.hasSuffix(
                "why       one › not_matched: its time comes 1m after this step; write a longer advance: before it"))
        #expect(!(try failure("")).contains("its time comes"))
        #expect(!(try failure("- event: {button: a, event: click}\n- advance: 1m\n")).contains("its time comes"))
    }

    @Test("a failure says that the time of a rule came on another weekday")
    func unmatchedWeekday() throws {
        let rules = "rules: [{id: one, triggers: {at: '12:05', weekday: mon}, actions: {publish: {topic: x}}}]"
        let text = try Tested.failure(rules, steps: "- advance: 10m\n- expect: [{publish: {topic: x}}]")
        #expect(text.hasSuffix("why       one › not_matched: its time came on thu, which weekday: does not contain"))
        let early = try Tested.failure(rules, steps: "- advance: 1m\n- expect: [{publish: {topic: x}}]")
        #expect(!early.contains("weekday"))
    }

    @Test("the environment of a program has the PATH of every program, unless the step sets another")
    func path() throws {
        try Tested.passes(
            Self.rule("[{run: [prog]}, {run: {argv: [prog], env: {PATH: /opt, A: b}}}]"),
            steps: Self.click + """
                - expect:
                    - run: {env: {PATH: "/usr/local/bin:/usr/bin:/bin"}}
                    - run: {env: {PATH: /opt, A: b}}
                """)
    }

    @Test("a failure shows the variables of a program that its step sets or the test expects, without secrets")
    func environment() throws {
        let text = try Tested.failure(
            Self.rule(
                "[{run: {argv: [prog], env: {A: b, KEY: !secret token}, cwd: /tmp, stdin: in}}, {shell: {script: s, env: {C: d}}}]"
            ),
            steps: Self.click + """
                - expect:
                    - run: {argv: [prog], env: {A: c, KEY: !secret token, TRYCK_EVENT: hold, PATH: /bin, NONE: x}}
                    - shell: {script: s, env: {C: e}}
                """, secrets: "token: hunter2")
        #expect(
            text.hasPrefix(
                """
                ! expected  run prog A=c KEY=*** TRYCK_EVENT=hold PATH=/bin NONE=x
                !           shell s C=e
                ! happened  run prog PATH=/usr/local/bin:/usr/bin:/bin TRYCK_EVENT=click A=b KEY=*** cwd /tmp stdin in
                !           shell s PATH=/usr/local/bin:/usr/bin:/bin TRYCK_EVENT=click C=d
                """), "\(text)")
        #expect(!text.contains("hunter2"))
    }

    @Test("each attempt of a retry is an effect with a time of its own")
    func attempts() throws {
        try Tested.passes(
            """
            rules:
              - id: one
                triggers: {button: a, event: click}
                actions:
                  - run: [prog]
                    retry: {count: 2, delay: 1s, backoff: 3}
            """,
            given: "{results: [{run: prog, exit: 1, takes: 500ms}]}",
            steps: Self.click + """
                - advance: 1m
                - expect:
                    - run: [prog]
                      at: 0ms
                    - run: [prog]
                      at: 1500ms
                    - run: [prog]
                      at: 5s
                - expect_rules: {one: failed}
                """)
    }

    @Test("a step that fails before it is performed is no effect, and debug and info logs are effects only if expected")
    func quiet() throws {
        try Tested.passes(
            """
            states: {lamp: {topic: lamp}}
            rules:
              - id: one
                triggers: {button: a, event: click}
                actions:
                  - log: first
                  - log: {message: second, level: debug}
                  - log: {message: third, level: warning}
                  - publish: {topic: out, payload: "{{ states.lamp ?? variables.text }}"}
                  - publish: {topic: "out/{{ variables.text }}"}
            variables: {text: a/b}
            """,
            steps: Self.click + """
                - expect: [{log: second}, {log: third}, {publish: {payload: a/b}}]
                - expect_rules: {one: failed}
                """)
    }

    @Test("every outcome of a rule can be expected")
    func outcomes() throws {
        try Tested.passes(
            """
            variables: {go: true}
            rules:
              - {id: done, triggers: {button: a, event: click}, actions: {log: x}}
              - {id: going, triggers: {button: a, event: click}, actions: {delay: 5s}}
              - {id: busy, triggers: {button: [a, b], event: click}, actions: {delay: 5s}}
              - {id: bad, triggers: {button: a, event: click}, actions: {run: ["false"]}}
              - {id: not_on, enabled: false, triggers: {button: a, event: click}, actions: {log: x}}
              - {id: unmet, triggers: {button: a, event: click}, conditions: not variables.go, actions: {log: x}}
              - {id: cool, triggers: {button: [a, b], event: click}, cooldown: 5s, actions: {log: x}}
              - {id: rate, triggers: {button: [a, b], event: click}, rate_limit: 1/1m, actions: {log: x}}
              - {id: late, triggers: {button: b, event: click}, queued: drop, actions: {log: x}}
              - {id: other, triggers: {button: b, event: hold}, actions: {log: x}}
              - {id: again, triggers: {button: [a, b], event: click}, mode: restart, actions: {delay: 5s}}
              - {id: rest, fallback: true, triggers: {button: a, event: click}, actions: {log: x}}
            """,
            given: "{results: [{run: 'false', exit: 1}]}",
            steps: Self.click + """
                - event: {button: b, event: click, queued: true, age: 1s}
                - expect: [{run: ["false"]}]
                - expect_rules:
                    done: completed
                    going: started
                    busy: dropped_busy
                    bad: failed
                    not_on: disabled
                    unmet: dropped_conditions
                    cool: dropped_cooldown
                    rate: dropped_rate
                    late: dropped_queued
                    other: not_matched
                    again: started
                    rest: not_matched
                - restart
                - expect_rules: {done: completed, going: interrupted, again: interrupted, late: dropped_queued}
                """)
    }

    @Test("a dry run has no effects")
    func dryRun() throws {
        try Tested.passes(
            """
            variables: {n: 1}
            rules:
              - id: one
                dry_run: true
                triggers: {button: a, event: click}
                actions: [{publish: {topic: t}}, {set: {n: 2}}, {log: {message: x, level: error}}]
            """,
            steps: Self.click + "- expect: []\n- expect_rules: {one: completed}\n- expect_variables: {n: 1}")
    }

    // MARK: Texts of failures

    @Test("a failure shows what was expected, what happened, and why")
    func effects() throws {
        let text = try Tested.failure(
            """
            states: {lamp: {topic: lamp, default: "ON"}}
            rules:
              - id: one
                triggers: {button: a, event: click}
                actions:
                  - choose:
                      - if: states.lamp == 'OFF'
                        then: {publish: {topic: set, json: {level: 40}}}
                    default: {publish: {topic: set, json: {level: 254}}}
              - {id: two, triggers: {button: a, event: click}, cooldown: 1m, actions: {delay: 1h}}
              - {id: three, triggers: {button: b, event: click}, actions: {log: unseen}}
            """,
            steps: """
                - event: {button: b, event: click}
                - event: {button: a, event: click}
                - expect: [{publish: {}}]
                - event: {button: a, event: click}
                - expect: [{publish: {topic: set, json: {level: 40}}}, {log: {}}]
                """)
        #expect(
            text == """
                ! expected  publish set {"level":40}
                !           log
                ! happened  publish set {"level":254}
                  json      /level: expected 40, happened 254
                            json is compared whole; for a part write json_includes
                  why       two › dropped_cooldown: for another 1m
                            one › actions[0].choose: branch 1 false: states.lamp == 'OFF' is false (states.lamp = "ON")
                            one › actions[0].choose: default
                            one › actions[0].choose.default[0].publish: publish set {"level":254}
                            one › actions[0].choose.default[0].publish: completed in 0s
                            two › actions[0].delay: waits 1h
                """)
    }

    @Test("a failure has the position of the step's key")
    func place() throws {
        let report = try Tested.report(
            Tested.text(Self.rule("{log: x}"), given: "{}", steps: Self.click + "- expect: [{log: y}]"))
        let failure = try #require(report.results.first?.failure)
        #expect(failure.text(of: "it").hasPrefix("home.yaml:14:9: test failed: it\n"))
        #expect(report.results.first?.name == "it")
    }

    @Test("a failure shows times only if times were expected")
    func times() throws {
        let late = try Tested.failure(
            Self.rule("[{delay: 1s}, {publish: {topic: t}}]"),
            steps: Self.click + "- advance: 2s\n- expect:\n    - publish: {topic: t}\n      at: 2s")
        #expect(late.hasPrefix("! expected  publish t at 2000ms\n! happened  publish t  at 1000ms\n  why       one"))
        let nothing = try Tested.failure(
            Self.rule("{publish: {topic: t, payload: p}}"), steps: Self.click + "- expect: []")
        #expect(nothing.hasPrefix("  expected  nothing\n! happened  publish t p\n"))
        let none = try Tested.failure(Self.rule("{delay: 1h}"), steps: Self.click + "- expect: [{publish: {topic: t}}]")
        #expect(none == "! expected  publish t\n  happened  nothing\n  why       one › actions[0].delay: waits 1h")
    }

    @Test("a failure says that the clock has jumped over the time of a rule")
    func jumpedTime() throws {
        let failure = try Tested.failure(
            #"rules: [{id: pill, triggers: {at: "21:00"}, actions: {publish: {topic: t}}}]"#,
            steps: "- time: \"21:01\"\n- expect: [{publish: {topic: t}}]")
        #expect(failure.contains("why       rule pill has missed 2026-01-15T21:00:00"), "\(failure)")
        #expect(failure.contains("time: jumps over it, and advance: lets it come"))
    }

    @Test("a failure shows info logs only if a log was expected")
    func lines() throws {
        #expect(
            try Tested.failure(Self.rule("{log: x}"), steps: Self.click + "- expect: [{log: y}]").hasPrefix(
                "! expected  log y\n! happened  log info x\n"))
        #expect(
            try Tested.failure(Self.rule("{log: x}"), steps: Self.click + "- expect: [{publish: {}}]").hasPrefix(
                "! expected  publish\n  happened  nothing\n"))
    }

    @Test("programs and requests are shown in a failure with their arguments, environment, headers and body")
    func programs() throws {
        let actions = """
            [{run: [prog, a b]}, {shell: {script: "echo $1", args: [x]}},
             {http: {url: "https://w/", method: PUT, body: b}}]
            """
        let text = try Tested.failure(
            Self.rule(actions),
            steps: Self.click + """
                - expect:
                    - run: {argv: [prog], env: {A: b}, cwd: /tmp, stdin: in}
                    - shell: {script: s, args: [a, b]}
                    - http: {url: u, method: PUT, headers: {A: b}, body: c}
                    - log: {message: m, level: error}
                """)
        #expect(
            text.hasPrefix(
                """
                ! expected  run prog A=b cwd /tmp stdin in
                !           shell s a b
                !           http PUT u c A: b
                !           log error m
                ! happened  run prog a b
                !           shell echo $1 x
                !           http PUT https://w/ b
                """))
    }

    @Test("a failure shows only the variables and outcomes that differ")
    func variables() throws {
        let rules = Self.rule("{set: {n: 2, s: ''}}", "variables: {n: 1, s: \"0\", b: true}")
        #expect(
            try Tested.failure(rules, steps: Self.click + "- expect_variables: {n: 3, s: '1', b: true}").hasPrefix(
                """
                ! expected  n = 3
                !           s = "1"
                ! happened  n = 2
                !           s = ""
                  why       one › actions[0].set: n = 2
                """))
        #expect(
            try Tested.failure(rules, steps: Self.click + "- expect_rules: {one: failed}").hasPrefix(
                "! expected  one: failed\n! happened  one: completed\n"))
    }

    @Test("a failure shows only what happened since the last expectation")
    func since() throws {
        let text = try Tested.failure(
            """
            rules:
              - {id: one, triggers: {button: a, event: click}, actions: {log: {message: x, level: error}}}
              - {id: two, triggers: {button: b, event: click}, actions: {log: {message: y, level: error}}}
            """,
            steps: Self.click + "- expect: [{log: x}]\n- event: {button: b, event: click}\n- expect: [{log: x}]")
        #expect(
            text == """
                ! expected  log x
                ! happened  log error y
                  why       two › actions[0].log: error: y
                """)
    }

    @Test("a secret is compared by its value and never shown")
    func secrets() throws {
        let rules = """
            variables: {place: ""}
            rules:
              - id: one
                triggers: {button: a, event: click}
                actions:
                  - publish: {topic: t, json: {key: !secret token}}
                  - publish: {topic: !secret short, payload: !secret token}
                  - set: {place: !secret token}
                  - http: {url: "https://web/{{ variables.place }}"}
            """
        let secrets = #"{token: 'a "b" c', short: 4711}"#
        let text = try Tested.failure(
            rules,
            steps: Self.click + """
                - expect:
                    - publish: {json: {key: !secret token}}
                    - publish: {topic: !secret short, payload: !secret token}
                    - http: {url: elsewhere}
                """, secrets: secrets)
        #expect(
            text.hasPrefix(
                """
                  expected  publish {"key":"***"}
                            publish pin ***
                !           http elsewhere
                  happened  publish t {"key":"***"}
                            publish pin ***
                !           http GET https://web/***
                """.replacing("pin", with: "***")))
        #expect(!text.contains("a \"b") && !text.contains(#"a \"b"#) && !text.contains("a%20%22b"))
        try Tested.passes(
            Tested.text(
                rules, given: "{}",
                steps: Self.click + """
                    - expect:
                        - publish: {json: {key: !secret token}}
                        - publish: {topic: !secret short, payload: !secret token}
                        - http: {}
                    - expect_variables: {place: !secret token}
                    """), secrets: secrets)
    }

    @Test("of many events a failure shows only the last")
    func much() throws {
        let text = try Tested.failure(
            Self.rule("{repeat: {count: 50, every: 20ms, actions: {log: '{{ repeat.index }}'}}}"),
            steps: Self.click + "- advance: 5s\n- expect: [{publish: {}}]")
        #expect(text.split(separator: "\n").count == 2 + 20)
    }
}
