import Diagnostics
import Foundation
import RuleLoader
import RuleTesting
import Rules
import Testing
import YAMLFiles

/// Days of a household on which the clock changes, as tests of the rules' own language: alarms, quiet hours, delays and resets.
@Suite("Household days on which summer time begins and ends")
struct SummerTimeTests {
    private static let rules = """
        version: 1
        location: {latitude: 52.09, longitude: 5.12, timezone: Europe/Amsterdam}
        buttons: {bed: BF12-C00001}
        variables: {presses: {initial: 0, reset: "02:30"}}
        rules:
          - {id: heating, triggers: {at: "02:30"}, actions: {log: "heating {{ trigger.at }}"}}
          - {id: alarm, triggers: {at: "07:00"}, actions: {log: "alarm {{ trigger.at }}"}}
          - id: night
            triggers: {button: bed, event: click}
            conditions: {time: {after: "22:00", before: "06:00"}}
            actions:
              - set: {presses: "{{ variables.presses + 1 }}"}
              - log: on
              - delay: 2h
              - log: "off {{ now.hour }}:{{ now.minute }}"
        tests:

        """

    private static func run(_ test: String) throws {
        let zone = Tested.root.appending(path: "Tests/AlmanacTests/Zones/Europe-Amsterdam")
        let loaded = FileLoader.rules(
            SourceFile(name: "home.yaml", text: Array((rules + test).utf8)),
            in: LoadInputs(timeZones: ["Europe/Amsterdam": [UInt8](try Data(contentsOf: zone))]))
        #expect(loaded.diagnostics.filter { $0.severity == .error } == [])
        let report = RuleTestRunner.run(try #require(loaded.value))
        #expect(report.results.count == 1)
        for result in report.failures { Issue.record("\(result.failure?.text(of: result.name) ?? "")") }
    }

    @Test(
        "summer time begins: 02:30 does not exist, and comes when the clock has passed it; a delay of two hours takes two hours"
    )
    func begins() throws {
        try Self.run(
            """
              - name: the last Sunday of March
                given: {now: "2026-03-29 01:00"}
                steps:
                  - event: {button: bed, event: click}
                  - expect: [{log: on}]
                  - expect_variables: {presses: 1}
                  - advance: 59m
                  - expect: []
                  - advance: 2m
                  - expect: [{log: "heating 2026-03-29T03:00:00+02:00"}]
                  - expect_variables: {presses: 0}
                  - advance: 1h
                  - expect: [{log: "off 4:0"}]
                  - advance: 3h
                  - expect: [{log: "alarm 2026-03-29T07:00:00+02:00"}]
                  - advance: 19h
                  - expect: []
                  - advance: 1h
                  - expect: [{log: "heating 2026-03-30T02:30:00+02:00"}]

            """)
    }

    @Test("summer time ends: 02:30 comes twice and counts once, and the night has nine hours")
    func ends() throws {
        try Self.run(
            """
              - name: the last Sunday of October
                given: {now: "2026-10-25 01:30"}
                steps:
                  - event: {button: bed, event: click}
                  - expect: [{log: on}]
                  - advance: 61m
                  - expect: [{log: "heating 2026-10-25T02:30:00+02:00"}]
                  - expect_variables: {presses: 0}
                  - event: {button: bed, event: click}
                  - expect_rules: {night: dropped_busy}
                  - advance: 1h
                  - expect: [{log: "off 2:30"}]
                  - event: {button: bed, event: click}
                  - expect: [{log: on}]
                  - expect_variables: {presses: 1}
                  - advance: 2h
                  - expect: [{log: "off 4:31"}]
                  - advance: 150m
                  - expect: [{log: "alarm 2026-10-25T07:00:00+01:00"}]
                  - event: {button: bed, event: click}
                  - expect_rules: {night: dropped_conditions}

            """)
    }
}
