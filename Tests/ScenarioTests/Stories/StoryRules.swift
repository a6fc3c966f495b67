import Diagnostics
import RuleLoader
import YAMLFiles

/// The rules that a reload finds.
enum StoryRules: String, CaseIterable, Hashable, Sendable {
    case usual
    /// Some rules are changed, and some are removed.
    case other
    /// The rules have an error.
    case bad
    /// The rules do not pass their own tests.
    case failing

    /// `nil` if the rules cannot be loaded.
    var rules: HouseRules? {
        switch self {
        case .usual: Self.written
        case .other: Self.rewritten
        case .bad, .failing: nil
        }
    }

    /// The maximum age of a press at which this rule runs; `nil`: any age.
    static func lateness(of rule: String) -> Duration? {
        switch rule {
        // The end of a hold may be of any age.
        case "hall_down", "hall_repeat", "hall_ask", "porch_release", "kitchen_undim": nil
        case "porch_hold": .seconds(20)
        // These rules drop late presses.
        case "porch_click", "kitchen_dim": .zero
        default: .seconds(3)
        }
    }

    /// The maximum age of a press that is published as a gesture; `nil`: any age.
    static func lateness(ofButton name: String) -> Duration? {
        switch name {
        case "hall": nil
        case "porch": .seconds(20)
        default: .seconds(3)
        }
    }

    /// The button whose presses start a rule, and the time after the press within which the rule's messages may be
    /// sent, including its earlier steps and the message's own wait; `nil`: without a limit.
    static func patience(of rule: String) -> (button: String, Duration)? {
        switch rule {
        case "hall_down", "hall_repeat", "hall_ask", "arrived", "noon_chime", "word_heard", "word_awaited": nil
        case "porch_hold": ("porch", .seconds(20 + 4 + 5 + 2))
        // A button may be held for long before its link is lost.
        case "porch_release", "kitchen_undim": nil
        // A program before the message may take half a minute.
        case "kitchen_double": ("kitchen", .seconds(3 + 30 + 5 + 5 + 2))
        case "sofa_click", "sofa_swipe", "sofa_turn": ("sofa", .seconds(3 + 5 + 2))
        case "desk_turn", "desk_slot", "desk_hold": ("desk", .seconds(3 + 5 + 2))
        default: ("kitchen", .seconds(3 + 5 + 2))
        }
    }

    static func hasSubtopic(_ rule: String) -> Bool { ["kitchen_double", "porch_hold", "hall_ask"].contains(rule) }

    /// False for rules that start at a time or with a change of a state.
    static func hasButton(_ rule: String) -> Bool { !["noon_chime", "word_heard", "word_awaited"].contains(rule) }

    /// Secrets that must appear only in the places where rules put them.
    static let secrets = ["correct horse battery", "b3arer-t0ken"]

    private static let written = HouseRules(text, secrets: secretsFile)
    private static let rewritten = HouseRules(
        text.replacing("id: kitchen_click", with: "id: kitchen_press").replacing("delay: 700ms", with: "delay: 300ms")
            .replacing("topic: home/word", with: "topic: home/other_word"),
        secrets: secretsFile)

    private static let secretsFile = "pin: \(secrets[0])\ntoken: \(secrets[1])\n"

    private static let text = """
        version: 1
        buttons:
          kitchen: 80:E4:DA:00:00:01
          hall: {address: 80:E4:DA:00:00:02, queued: accept}
          porch: {address: 80:E4:DA:00:00:03, queued: {max_age: 20s, keep: last}}
          sofa: {address: 80:E4:DA:00:00:04, model: duo}
          desk: {address: 80:E4:DA:00:00:05, model: twist}
        states:
          word: {topic: home/word, default: none}
          guests: {topic: home/guests, type: integer, default: 0, max_age: 30s}
          anything: {topic: home/+, as: last}
          switched: {topic: "home/#", as: count}
        variables:
          count: {initial: 0, min: 0, max: 1000000}
          scene: {initial: day, values: [day, evening, night], reset: 12:00}
        rules:
          - id: kitchen_click
            triggers: {button: kitchen, event: click}
            actions:
              - publish: {topic: did/kitchen_click, json: {age: "{{ trigger.age }}", late: "{{ trigger.queued }}"}, qos: 1}
              - set: {scene: "{{ next(variables.scene) }}"}
              - log: "{{ trigger.nickname }} said {{ states.word }}"
          - id: kitchen_double
            triggers: {button: kitchen, event: double_click}
            mode: restart
            actions:
              - run: [say, "{{ trigger.nickname }}", --, "{{ states.word }}"]
                save_as: said
                continue_on_error: true
              - log: "{{ 'again' if trigger.interrupted else 'first' }}"
              - publish: {topic: "did/kitchen_double/{{ results.said.stdout }}", payload: "{{ results.said.stdout }}"}
                continue_on_error: true
              - publish: {topic: "did/kitchen_double/{{ trigger.nickname }}", payload: "{{ states.word }}", qos: 2}
          - id: kitchen_vault
            triggers: {button: kitchen, event: hold}
            cooldown: 2s
            actions:
              - publish: {topic: did/kitchen_vault, payload: !secret pin}
              - http: {url: "http://gate.example/open?who={{ trigger.nickname }}", method: POST, headers: {Authorization: !secret token}}
          - id: kitchen_dim
            triggers: {button: kitchen, event: hold}
            queued: drop
            mode: parallel
            actions:
              - publish: {topic: did/kitchen_dim}
          - id: kitchen_undim
            triggers: {button: kitchen, event: hold_release}
            queued: drop
            mode: parallel
            actions:
              - publish: {topic: did/kitchen_undim}
          - id: hall_down
            triggers: {button: hall, event: down}
            mode: queued
            max: 20
            on_restart: resume
            actions:
              - publish: {topic: did/hall_down, payload: "{{ variables.count }}", qos: 1, max_age: 3s}
                continue_on_error: true
              - delay: 700ms
              - set: {count: "{{ variables.count + 1 }}"}
          - id: hall_repeat
            triggers: {button: hall, event: hold}
            actions:
              - repeat:
                  while: held
                  every: 200ms
                  actions:
                    - publish: {topic: did/hall_repeat}
          - id: hall_ask
            triggers: {button: hall, event: double_click}
            mode: restart
            on_restart: resume
            actions:
              - wait_for: {button: [hall, kitchen], event: click}
                timeout: 6s
                save_as: answer
                then: {publish: {topic: did/hall_ask/yes, payload: "{{ results.answer.button }}"}}
                else: {publish: {topic: did/hall_ask/no, payload: "{{ random(1, 6) }} of {{ states.switched }}"}}
          - id: porch_hold
            triggers: {button: porch, event: hold}
            mode: parallel
            actions:
              - publish: {topic: did/porch_hold}
              - wait: {until: states.guests > 0, timeout: 4s}
                continue_on_error: true
              - publish: {topic: did/porch_hold/guests, payload: "{{ states.guests }}", max_age: 5s}
          - id: porch_release
            triggers: {button: porch, event: hold_release}
            queued: {max_age: 20s, keep: all}
            actions:
              - publish: {topic: did/porch_release, retain: true, payload: "{{ trigger.held_for }}"}
          - id: porch_click
            triggers: {button: porch, event: click}
            queued: drop
            actions:
              - shell: {script: 'echo "$1"', args: ["{{ states.word }}"]}
          - id: sofa_click
            triggers: {button: sofa, event: click}
            actions:
              - publish: {topic: did/sofa_click, payload: "{{ trigger.part }}", qos: 1}
          - id: sofa_swipe
            triggers: {button: sofa, event: [swipe_left, swipe_right]}
            actions:
              - publish: {topic: did/sofa_swipe, payload: "{{ trigger.part }} {{ trigger.event }}"}
          - id: sofa_turn
            triggers: {button: sofa, event: [rotate_clockwise, rotate_counter_clockwise], part: small}
            actions:
              - publish: {topic: did/sofa_turn, payload: "{{ trigger.steps }} {{ trigger.position }}"}
          - id: desk_turn
            triggers: {button: desk, event: [rotate_clockwise, rotate_counter_clockwise], part: dial, collect: 300ms}
            actions:
              - publish: {topic: did/desk_turn, payload: "{{ trigger.steps }} {{ trigger.position }}", qos: 1}
          - id: desk_slot
            triggers: {button: desk, event: [rotate_clockwise, rotate_counter_clockwise], part: push}
            actions:
              - publish: {topic: did/desk_slot, payload: "{{ trigger.slot }}"}
          - id: desk_hold
            triggers: {button: desk, event: hold}
            actions:
              - publish: {topic: did/desk_hold}
          - id: together
            triggers: {chord: [kitchen, porch]}
            actions:
              - publish: {topic: did/together}
          - id: at_noon
            triggers: {button: kitchen, event: double_click}
            conditions: {time: {after: 11:00, before: 13:00}}
            actions:
              - publish: {topic: did/at_noon}
          - id: noon_chime
            triggers: {at: 12:00, missed: 2h}
            mode: parallel
            actions:
              - publish: {topic: did/noon_chime, payload: "{{ trigger.late }}", qos: 1}
              - cancel: word_awaited
          - id: word_heard
            triggers: {state: anything, for: 500ms}
            mode: restart
            actions:
              - delay: 300ms
              - publish: {topic: did/word_heard, payload: "{{ states.anything ?? 'nothing' }} {{ random(1, 6) }}"}
          - id: word_awaited
            triggers: {state: word}
            mode: restart
            on_restart: resume
            actions:
              - wait_for: [{state: guests, for: 200ms}, {state: switched}, {at: 12:00}]
                timeout: 20s
                save_as: answer
              - publish: {topic: did/word_awaited, payload: "{{ results.answer.event }}", qos: 1}
          - id: arrived
            triggers: {button: [kitchen, hall], event: connected}
            actions:
              - publish: {topic: did/arrived}
        """
}

extension HouseRules {
    /// The loader also gets a `secrets.yaml`.
    fileprivate init(_ text: String, secrets: String) {
        self.init(text, in: LoadInputs(secrets: SourceFile(name: "secrets.yaml", text: Array(secrets.utf8))))
    }
}
