/// A rule file to measure with: any number of rules, nine lines each, of the kinds that people write.
enum BenchRuleFile {
    static let rulesPerButton = 10

    /// - Parameters:
    ///   - edition: a number on which one value of each rule depends.
    ///   - edited: how many rules are of this edition, while the others are of edition 0; `nil`: all.
    static func text(rules count: Int, edition: Int = 0, edited: Int? = nil) -> [UInt8] {
        var text = header
        for button in 0...count / rulesPerButton { text += "  b\(button): \(serial(ofButton: button))\n" }
        text += "rules:\n"
        for number in 0..<count { text += rule(number, edition: number < edited ?? count ? edition : 0) }
        return Array(text.utf8)
    }

    /// A serial number: four letters and digits, a dash, and six digits.
    static func serial(ofButton number: Int) -> String { "BE00-\(100_000 + number)" }

    private static let header = """
        version: 1
        location: {latitude: 52.37, longitude: 4.9}
        states:
          lamp: {topic: zigbee2mqtt/hall, value: /state, default: "OFF"}
          lux: {topic: zigbee2mqtt/hall_sensor, value: /illuminance, type: number, default: 0}
        variables:
          guest: false
          level: {initial: 30, min: 0, max: 100}
        scripts:
          light:
            inputs: {lamp: {type: string}, brightness: {type: integer, default: 254}}
            actions:
              - publish:
                  topic: "zigbee2mqtt/{{ inputs.lamp }}/set"
                  json: {state: "ON", brightness: "{{ inputs.brightness }}"}
        buttons:

        """

    private static func rule(_ number: Int, edition: Int) -> String {
        let button = "b\(number / rulesPerButton)"
        let seconds = 5 + edition
        switch number % 4 {
        case 0:
            return """
                  - id: rule\(number)
                    triggers: {button: \(button), event: click}
                    conditions:
                      - states.lux < 20
                      - time: {after: sunset - 30m, before: 08:00}
                    mode: restart
                    actions:
                      - publish: {topic: home/lamp\(number), json: {state: "ON", level: "{{ variables.level }}"}}
                      - delay: \(seconds)m

                """
        case 1:
            return """
                  - id: rule\(number)
                    triggers: {button: \(button), event: double_click}
                    cooldown: \(seconds)s
                    actions:
                      - choose:
                          - if: states.lamp == 'ON' and not variables.guest
                            then: {publish: {topic: home/lamp\(number), payload: "off"}}
                        default:
                          - {script: light, with: {lamp: hall, brightness: 40}}

                """
        case 2:
            return """
                  - id: rule\(number)
                    triggers: {button: \(button), event: hold}
                    conditions: not variables.guest
                    cooldown: 1s
                    actions:
                      - run: [/usr/bin/env, "--", "{{ trigger.nickname }}"]
                        timeout: \(seconds)s
                        continue_on_error: true
                      - set: {level: "{{ variables.level + 1 }}"}

                """
        default:
            return """
                  - id: rule\(number)
                    triggers:
                      - {button: \(button), clicks: 3, id: three}
                      - {button: \(button), clicks: 4, id: four}
                    actions:
                      - publish:
                          topic: "home/bell/{{ trigger.id }}"
                          json: {button: "{{ trigger.button }}", at: "{{ trigger.at }}"}
                        retry: {count: 3, delay: \(seconds)s}

                """
        }
    }
}
