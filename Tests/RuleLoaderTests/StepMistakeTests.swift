import Diagnostics
import RuleLoader
import Testing
import YAMLFiles

@Suite("What a step may not say")
struct StepMistakeTests {
    @Test(
        "each key refuses what it cannot take",
        arguments: [
            // publish
            ("publish: {topic: a, payload: b, json: c}", "E210"), ("publish: {payload: b}", "E202"),
            ("publish: {topic: a/#}", "E508"), ("publish: {topic: '{{ states.lamp }}/+'}", "E508"),
            ("publish: {topic: [a]}", "E203"), ("publish: {topic: a, payload: [b]}", "E203"),
            ("publish: {topic: a, qos: 3}", "E205"), ("publish: {topic: a, qos: '1'}", "E203"),
            ("publish: {topic: a, retain: yes}", "E203"), ("publish: {topic: a, retain: '{{ true }}'}", "E407"),
            ("publish: {topic: a, max_age: 5}", "E206"), ("publish: {topic: a, payload: null}", "E114"),
            ("publish: {topic: a, json: {a: on}}", "E208"), ("publish: {topic: a, json: {a: 017}}", "E208"),
            ("publish: {topic: a, json: {'{{ b }}': c}}", "E407"), ("publish: a", "E203"),
            ("publish: {topic: a, json: '{{ null }}'}", "E404"), ("publish: {topic: a, json: {color: , b: c}}", "E114"),
            ("publish:\n    topic: a\n    json:\n      color: #ff0000\n      b: null", "E114"),
            // run and shell
            ("run: mpc next", "E203"), ("run: []", "E212"), ("run: [\"\"]", "E203"), ("run: {cwd: /tmp}", "E202"),
            ("run: ['{{ states.lamp }}']", "E506"), ("run: [a, null]", "E114"), ("run: [a, [b]]", "E203"),
            ("run: [a, \"b\\0\"]", "E203"), ("run: {argv: a}", "E203"), ("run: {argv: [a], user: b}", "E201"),
            ("run: {argv: [a], cwd: '{{ states.lamp }}'}", "E407"), ("run: {argv: [a], env: [b]}", "E203"),
            ("run: {argv: [a], env: {1A: b}}", "E209"), ("run: {argv: [a], env: {A: null}}", "E114"),
            ("run: {argv: [a], env: {PATH: '{{ states.lamp }}'}}", "E407"),
            ("run: {argv: [a], env: {IFS: '{{ states.lamp }}'}}", "E407"),
            ("run: {argv: [a], env: {ENV: '{{ states.lamp }}'}}", "E407"),
            ("run: {argv: [a], env: {BASH_ENV: '{{ states.lamp }}'}}", "E407"),
            ("run: {argv: [a], env: {LD_LIBRARY_PATH: '{{ states.lamp }}'}}", "E407"),
            ("shell: 'echo {{ states.lamp }}'", "E507"), ("shell: [a]", "E203"), ("shell: {args: [a]}", "E202"),
            ("shell: {script: a, args: b}", "E203"), ("shell: \"\"", "E203"),
            // http
            ("http: {method: POST}", "E202"), ("http: {url: 'ftp://a'}", "E509"),
            ("http: {url: '{{ states.lamp }}://a/'}", "E509"), ("http: {url: 'https://a.{{ states.lamp }}/'}", "E509"),
            ("http: {url: 'https://a', method: FETCH}", "E204"), ("http: {url: 'https://a', body: b, json: c}", "E210"),
            ("http: {url: 'https://a', headers: {'a b': c}}", "E209"),
            ("http: {url: 'https://a', headers: {a: \"b\\n\"}}", "E203"),
            ("http: {url: 'https://a', expect: 2x}", "E204"), ("http: {url: 'https://a', expect: 99}", "E205"),
            ("http: {url: 'https://a', expect: 6xx}", "E204"),
            // delay and wait
            ("delay: 10", "E206"), ("delay: 8d", "E205"), ("delay: '{{ 3 }}'", "E404"), ("delay: '{{ 3s'", "E401"),
            ("wait: 5s", "E203"), ("wait: {until: states.open}", "E202"), ("wait: {timeout: 5s}", "E202"),
            ("wait: {until: variables.volume, timeout: 5s}", "E404"), ("wait: {until: [a], timeout: 5s}", "E203"),
            // set, enable, disable
            ("set: {sceen: day}", "E304"), ("set: {scene: dusk}", "E204"), ("set: {volume: loud}", "E203"),
            ("set: {volume: '3'}", "E203"), ("set: {volume: 2.5}", "E203"), ("set: {guest: on}", "E208"),
            ("set: {guest: 1}", "E203"), ("set: {scene: 3}", "E203"), ("set: {volume: '{{ states.lamp }}'}", "E404"),
            ("set: {volume: '{{ states.lux }}'}", "E404"), ("set: {ratio: '{{ states.lux }}'}", "E405"),
            ("set: {}", "E202"), ("set: [a]", "E203"), ("set: {volume: 99999999999999999999}", "E205"),
            ("enable: three", "E311"), ("disable: []", "E212"), ("enable: {a: b}", "E203"),
            // cycle and repeat
            ("cycle: {steps: [{log: a}]}", "E205"), ("cycle: [{log: a}, {log: b}]", "E203"),
            ("cycle: {steps: [{log: a}, []]}", "E213"),
            ("cycle: {steps: [{log: a}, {log: b}], reset_after: 3}", "E206"),
            ("repeat: {while: held, count: 3, every: 1s, actions: {log: a}}", "E210"),
            ("repeat: {every: 1s, actions: {log: a}}", "E202"), ("repeat: {count: 3, actions: {log: a}}", "E202"),
            ("repeat: {count: 3, every: 19ms, actions: {log: a}}", "E205"),
            ("repeat: {count: 1001, every: 1s, actions: {log: a}}", "E205"),
            ("repeat: {count: 3, every: 1s, limit: 601s, actions: {log: a}}", "E205"),
            ("repeat: {count: 3, every: 1s}", "E202"), ("repeat: {count: 3, every: 1s, actions: []}", "E213"),
            ("repeat: {while: pressed, every: 1s, actions: {log: a}}", "E204"),
            ("repeat: {until: a, every: 1s, actions: {log: a}}", "E201"),
            // if and choose
            ("if: states.open", "E202"), ("if: variables.volume\n  then: {log: a}", "E404"),
            ("if: states.open\n  then: {log: a}\n  default: {log: b}", "E201"), ("choose: []", "E212"),
            ("choose: {if: states.open, then: {log: a}}", "E203"), ("choose: [{if: states.open}]", "E202"),
            ("choose: [{if: states.open, then: {log: a}}]\n  else: {log: b}", "E201"), ("then: {log: a}", "E213"),
            // script
            ("script: gret", "E306"), ("script: mpc next", "E306"), ("script: greet", "E202"),
            ("script: greet\n  with: {whom: a, who: b}", "E201"), ("script: greet\n  with: {whom: 3}", "E404"),
            ("script: greet\n  with: {whom: a, often: '{{ states.lamp }}'}", "E404"),
            ("script: greet\n  with: {whom: on}", "E208"), ("script: greet\n  with: a", "E203"),
            ("log: a\n  with: {a: b}", "E201"),
            // log and stop
            ("log: {level: info}", "E202"), ("log: {message: a, level: loud}", "E204"), ("log: [a]", "E203"),
            ("log: null", "E114"), ("log: '{{ nothing }}'", "E402"), ("stop: '{{ 1 + }}'", "E401"),
            ("stop: [a]", "E203"),
            // common keys
            ("log: a\n  timeout: 3s", "E210"), ("delay: 1s\n  retry: {count: 1}", "E210"),
            ("publish: {topic: a}\n  save_as: b", "E210"), ("run: [a]\n  save_as: B", "E209"),
            ("run: [a]\n  retry: {count: 0}", "E205"), ("run: [a]\n  retry: {delay: 1s}", "E202"),
            ("run: [a]\n  retry: {count: 1, backoff: 11}", "E205"), ("run: [a]\n  retry: 3", "E203"),
            ("run: [a]\n  enabled: off", "E203"), ("run: [a]\n  continue_on_error: 1", "E203"),
            ("run: [a]\n  alias: '{{ b }}'", "E407"), ("run: [a]\n  timeout: soon", "E206"),
            ("run: [a]\n  log: b", "E213"), ("alias: a", "E213"), ("{}", "E213"), ("service: a", "E201"),
            ("parallel: [{log: a}]", "E201"), ("wait_for: a\n  timeout: 1s", "E203"), ("log", "E213"),
            ("[{log: a}]", "E203"),
        ])
    func mistakes(step: String, code: String) {
        #expect(LoadedSteps.codes("- \(step)") == [code])
    }

    @Test(
        "no message shows what a tag brought in",
        arguments: [
            "publish: {topic: T, payload: T, json: {a: T}, qos: T, retain: T, max_age: T}", "run: T", "run: [T, T]",
            "run: {argv: T, cwd: T, stdin: T, env: {A: T}}", "shell: T", "shell: {script: T, args: [T]}",
            "http: T", "http: {url: T, method: T, headers: {A: T}, body: T, expect: T}", "delay: T", "wait: T",
            "wait: {until: T, timeout: T}", "set: T", "set: {scene: T, volume: T, guest: T}", "enable: T",
            "disable: [T]",
            "cycle: T", "cycle: {steps: T, reset_after: T}", "cycle: {steps: [T, T]}", "repeat: T",
            "repeat: {while: T, every: T, limit: T, actions: T}", "repeat: {count: T, every: 1s, actions: {log: T}}",
            "if: T\n  then: T\n  else: T", "choose: T\n  default: T",
            "choose: [{if: {time: {after: T, weekday: T}}, then: T}]",
            "script: T", "script: greet\n  with: {whom: T, often: T}", "log: T", "log: {message: T, level: T}",
            "stop: T", "T",
            "run: [a]\n  alias: T\n  enabled: T\n  timeout: T\n  retry: T\n  continue_on_error: T\n  save_as: T",
        ])
    func secrets(step: String) {
        let environment = LoadInputs(
            secrets: SourceFile(name: "secrets.yaml", text: Array("token: hunter+2\n".utf8)))
        let steps = "- \(step.replacing("T", with: "!secret token"))"
        var loaded = LoadedText.set(LoadedSteps.text(steps), in: environment)
        loaded.report(missing: loaded.programs)
        for diagnostic in loaded.diagnostics {
            #expect(!"\(diagnostic.message) \(diagnostic.hint ?? "")".contains("hunter"))
        }
    }

    @Test("a list has at most 100 steps")
    func count() {
        let steps = { (count: Int) in String(repeating: "- log: a\n", count: count) }
        #expect(LoadedSteps.codes(steps(100)) == [])
        #expect(LoadedSteps.codes(steps(101)) == ["E205"])
    }

    @Test("a rule has at most 1000 steps, those of scripts among them")
    func total() {
        let codes = { (calls: Int) in
            let many = "x-many: &many [" + String(repeating: "{log: a}, ", count: 99) + "]\n"
            let rules = LoadedSteps.text(String(repeating: "- script: many\n", count: calls))
            return LoadedText.set(many + rules.replacing("  end: {", with: "  many: {actions: *many}\n  end: {"))
                .diagnostics.map(\.code)
        }
        #expect(codes(10) == [])
        #expect(codes(11) == ["E205"])
    }

    @Test("a run waits at most seven days in delays that are written out")
    func delays() {
        #expect(LoadedSteps.codes("- delay: 7d") == [])
        #expect(LoadedSteps.codes("- delay: 6d\n- delay: 1d\n- delay: 1ms") == ["E205"])
        #expect(LoadedSteps.codes("- if: states.open\n  then: {delay: 4d}\n  else: {delay: 4d}\n- delay: 3d") == [])
        #expect(
            LoadedSteps.codes("- if: states.open\n  then: {delay: 5d}\n  else: {delay: 4d}\n- delay: 3d") == ["E205"])
    }
}
