import ButtonModel
import Hub
import Rules
import Simulator
import Testing

@Suite("The file for Prometheus")
struct MetricsScenarioTests {
    private static let rules: HouseRules = """
        version: 1
        buttons: {kitchen: "80:E4:DA:00:00:01"}
        rules:
          - id: lamp
            triggers: {button: kitchen, event: click}
            actions: {publish: {topic: lamp/set, payload: TOGGLE}}
        """

    private static func house(_ rules: HouseRules = rules) -> Household {
        var house = Household([Household.kitchen], rules: rules, hasMetrics: true)
        house.pairAll()
        house.wait(.seconds(60))
        return house
    }

    private static func samples(_ house: Household) -> [Substring] {
        (house.metrics.last?.text ?? "").split(separator: "\n").filter { !$0.hasPrefix("#") }
    }

    @Test("the whole file of a small house")
    func smallHouse() throws {
        var house = Self.house()
        house.press("kitchen", .click)
        house.wait(.seconds(30))
        // The number of messages is not part of this test.
        let text = house.metrics.last?.text.replacing(/(messages_published_total) \d+/) { "\($0.1) 1" }
        #expect(text == Self.golden)
    }

    @Test("the file is written at most every 15 s, and not without a change")
    func pace() throws {
        var house = Self.house()
        let quiet = house.metrics.count
        house.wait(.seconds(7200))
        #expect(house.metrics.count == quiet)
        let begin = house.now
        for _ in 0..<30 {
            house.press("kitchen", .click)
            house.wait(.seconds(4))
        }
        house.wait(.seconds(60))
        let times = house.metrics[quiet...].map { $0.at - begin }
        #expect((7...9).contains(times.count), "\(times)")
        #expect(times.first.map { $0 >= .seconds(15) && $0 < .seconds(16) } == true)
        for (time, next) in zip(times, times.dropFirst()) { #expect(next - time >= .seconds(15)) }
        #expect(Self.samples(house).contains(#"tryck_rule_outcomes_total{rule="lamp",outcome="completed"} 30"#))
    }

    @Test("the file says that the daemon was stopped, and then that it was started again")
    func end() {
        var house = Self.house()
        house.tell(.stop)
        house.wait(.seconds(5))
        #expect(house.isFinished)
        #expect(Self.samples(house).contains("tryck_up 0"))
        let count = house.metrics.count
        house.crash()
        #expect(house.metrics.count == count + 1)
        #expect(Self.samples(house).contains("tryck_up 1"))
    }

    @Test("faults are in the file: of the broker, messages, the disk, the adapter and the rules")
    func faults() {
        var house = Self.house()
        house.loseBroker()
        house.diskIsFull = true
        house.rulesAreBad = true
        house.tell(.reloadRules)
        house.press("kitchen", .click)
        house.wait(.seconds(2))
        house.keepsAdapterAway = true
        house.unplugAdapter()
        house.wait(.seconds(14))
        var samples = Self.samples(house)
        for line in [
            "tryck_broker_up 0", "tryck_store_fault 1", "tryck_rules_fault 1", "tryck_adapter_up 0",
            "tryck_adapter_resets_total 1", "tryck_buttons 1", "tryck_buttons_ready 0",
        ] { #expect(samples.contains { $0 == line }, "\(line)") }
        house.wait(.seconds(3600))
        samples = Self.samples(house)
        #expect(samples.contains("tryck_messages_waiting 0"))
        #expect(samples.contains { $0.hasPrefix("tryck_messages_failed_total ") && !$0.hasSuffix(" 0") })
    }

    @Test("a press that is too old is counted")
    func stale() {
        var house = Self.house()
        house.reach("kitchen", false)
        house.wait(.seconds(60))
        house.press("kitchen", .click)
        house.wait(.seconds(30))
        house.reach("kitchen", true)
        house.wait(.seconds(60))
        #expect(Self.samples(house).contains("tryck_events_stale_total 1"))
        #expect(Self.samples(house).contains(#"tryck_rule_outcomes_total{rule="lamp",outcome="dropped_queued"} 1"#))
    }

    @Test("with many rules, only outcomes that have occurred have lines")
    func manyRules() {
        let silent = (0..<200).map {
            "  - {id: silent_\($0), triggers: {button: any, event: hold}, actions: {log: x}}\n"
        }
        var house = Self.house(HouseRules(Self.rules.text + "\n" + silent.joined()))
        #expect(!Self.samples(house).contains { $0.hasPrefix("tryck_rule_") })
        house.press("kitchen", .click)
        house.wait(.seconds(30))
        #expect(
            Self.samples(house).filter { $0.hasPrefix("tryck_rule") } == [
                "tryck_rules_fault 0", "tryck_rules 201",
                #"tryck_rule_outcomes_total{rule="lamp",outcome="started"} 1"#,
                #"tryck_rule_outcomes_total{rule="lamp",outcome="completed"} 1"#,
            ])
    }

    @Test("a secret of the rules is not in the file, even if a button has that name")
    func secrets() {
        var rules = HouseRules("version: 1\n")
        rules.set.confidential = ["kitch"]
        rules.set.secretValues = ["kitch"]
        let house = Self.house(rules)
        #expect(Self.samples(house).contains(#"tryck_button_connected{button="***en",id="80e4da000001"} 1"#))
        #expect(!house.metrics.contains { $0.text.contains("kitch") })
    }

    private static let golden = """
        # HELP tryck_up Whether the daemon runs; 0 after it was stopped properly
        # TYPE tryck_up gauge
        tryck_up 1
        # HELP tryck_build_info Always 1; the labels say what runs
        # TYPE tryck_build_info gauge
        tryck_build_info{version="test",commit=""} 1
        # HELP tryck_start_time_seconds When the daemon was started, since 1970 in UTC
        # TYPE tryck_start_time_seconds gauge
        tryck_start_time_seconds 1795000000.0
        # HELP tryck_adapter_up Whether the Bluetooth adapter, or one of several radios, is ready
        # TYPE tryck_adapter_up gauge
        tryck_adapter_up 1
        # HELP tryck_adapter_resets_total How often the adapter was lost after it had been ready
        # TYPE tryck_adapter_resets_total counter
        tryck_adapter_resets_total 0
        # HELP tryck_radio_up Whether the radio is ready
        # TYPE tryck_radio_up gauge
        tryck_radio_up{radio="cellar"} 1
        # HELP tryck_radio_resets_total How often the radio was lost after it had been ready
        # TYPE tryck_radio_resets_total counter
        tryck_radio_resets_total{radio="cellar"} 0
        # HELP tryck_radio_links Buttons that are connected through the radio
        # TYPE tryck_radio_links gauge
        tryck_radio_links{radio="cellar"} 1
        # HELP tryck_radio_connect_seconds How long connections took, until the notifications of the button were on
        # TYPE tryck_radio_connect_seconds histogram
        tryck_radio_connect_seconds_bucket{radio="cellar",le="0.025"} 1
        tryck_radio_connect_seconds_bucket{radio="cellar",le="0.05"} 1
        tryck_radio_connect_seconds_bucket{radio="cellar",le="0.1"} 1
        tryck_radio_connect_seconds_bucket{radio="cellar",le="0.25"} 1
        tryck_radio_connect_seconds_bucket{radio="cellar",le="0.5"} 1
        tryck_radio_connect_seconds_bucket{radio="cellar",le="1.0"} 1
        tryck_radio_connect_seconds_bucket{radio="cellar",le="2.5"} 1
        tryck_radio_connect_seconds_bucket{radio="cellar",le="5.0"} 1
        tryck_radio_connect_seconds_bucket{radio="cellar",le="10.0"} 1
        tryck_radio_connect_seconds_bucket{radio="cellar",le="+Inf"} 1
        tryck_radio_connect_seconds_sum{radio="cellar"} 0.012
        tryck_radio_connect_seconds_count{radio="cellar"} 1
        # HELP tryck_radio_connect_failures_total Connections that failed
        # TYPE tryck_radio_connect_failures_total counter
        tryck_radio_connect_failures_total{radio="cellar",reason="no_link"} 0
        tryck_radio_connect_failures_total{radio="cellar",reason="not_established"} 0
        tryck_radio_connect_failures_total{radio="cellar",reason="link_lost"} 0
        tryck_radio_connect_failures_total{radio="cellar",reason="no_service"} 0
        # HELP tryck_radio_lost_notifications_total How often a packet of a button was lost on the way, and was sent again
        # TYPE tryck_radio_lost_notifications_total counter
        tryck_radio_lost_notifications_total{radio="cellar"} 0
        # HELP tryck_broker_up Whether the broker is connected
        # TYPE tryck_broker_up gauge
        tryck_broker_up 1
        # HELP tryck_broker_malformed_packets_total Packets of the broker that broke the protocol; MQTT 3.1.1 is used after one
        # TYPE tryck_broker_malformed_packets_total counter
        tryck_broker_malformed_packets_total 0
        # HELP tryck_messages_published_total Messages that the broker accepted, without those of bridge/logging
        # TYPE tryck_messages_published_total counter
        tryck_messages_published_total 1
        # HELP tryck_messages_failed_total Messages given up: too late, too many, refused, or there is no broker
        # TYPE tryck_messages_failed_total counter
        tryck_messages_failed_total 0
        # HELP tryck_messages_waiting Messages that wait for the broker
        # TYPE tryck_messages_waiting gauge
        tryck_messages_waiting 0
        # HELP tryck_store_fault Whether the state directory cannot be written
        # TYPE tryck_store_fault gauge
        tryck_store_fault 0
        # HELP tryck_rules_fault Whether the rules in use are not those on disk
        # TYPE tryck_rules_fault gauge
        tryck_rules_fault 0
        # HELP tryck_rules Rules that are loaded
        # TYPE tryck_rules gauge
        tryck_rules 1
        # HELP tryck_rule_outcomes_total Outcomes of the rule, as in rules/ID/stats over MQTT
        # TYPE tryck_rule_outcomes_total counter
        tryck_rule_outcomes_total{rule="lamp",outcome="started"} 1
        tryck_rule_outcomes_total{rule="lamp",outcome="completed"} 1
        tryck_rule_outcomes_total{rule="lamp",outcome="failed"} 0
        tryck_rule_outcomes_total{rule="lamp",outcome="cancelled"} 0
        tryck_rule_outcomes_total{rule="lamp",outcome="interrupted"} 0
        tryck_rule_outcomes_total{rule="lamp",outcome="dropped_queued"} 0
        tryck_rule_outcomes_total{rule="lamp",outcome="dropped_conditions"} 0
        tryck_rule_outcomes_total{rule="lamp",outcome="dropped_cooldown"} 0
        tryck_rule_outcomes_total{rule="lamp",outcome="dropped_rate"} 0
        tryck_rule_outcomes_total{rule="lamp",outcome="dropped_busy"} 0
        tryck_rule_outcomes_total{rule="lamp",outcome="disabled"} 0
        # HELP tryck_rule_condition_errors_total Conditions that could not be evaluated
        # TYPE tryck_rule_condition_errors_total counter
        tryck_rule_condition_errors_total{rule="lamp"} 0
        # HELP tryck_events_stale_total Gestures that were too old to trigger rules
        # TYPE tryck_events_stale_total counter
        tryck_events_stale_total 0
        # HELP tryck_buttons Buttons that are paired
        # TYPE tryck_buttons gauge
        tryck_buttons 1
        # HELP tryck_buttons_ready Buttons that are connected and verified
        # TYPE tryck_buttons_ready gauge
        tryck_buttons_ready 1
        # HELP tryck_button_connected Whether the button is connected and verified
        # TYPE tryck_button_connected gauge
        tryck_button_connected{button="kitchen",id="80e4da000001"} 1
        # HELP tryck_button_presses_total Presses since the button was paired, including those before restarts
        # TYPE tryck_button_presses_total counter
        tryck_button_presses_total{button="kitchen",id="80e4da000001"} 1
        # HELP tryck_button_missed_presses_total Presses that never arrived here; another program may have received them
        # TYPE tryck_button_missed_presses_total counter
        tryck_button_missed_presses_total{button="kitchen",id="80e4da000001"} 0
        # HELP tryck_button_last_seen_timestamp_seconds When the button was last seen, since 1970 in UTC
        # TYPE tryck_button_last_seen_timestamp_seconds gauge
        tryck_button_last_seen_timestamp_seconds{button="kitchen",id="80e4da000001"} 1795000091.501
        # HELP tryck_button_battery_volts The battery voltage that was measured last
        # TYPE tryck_button_battery_volts gauge
        tryck_button_battery_volts{button="kitchen",id="80e4da000001"} 2.999
        # HELP tryck_button_battery_ratio The remaining charge of the battery, a rough estimate
        # TYPE tryck_button_battery_ratio gauge
        tryck_button_battery_ratio{button="kitchen",id="80e4da000001"} 0.99
        # HELP tryck_button_battery_low Whether the battery is low: below 2.65 V, until above 2.75 V
        # TYPE tryck_button_battery_low gauge
        tryck_button_battery_low{button="kitchen",id="80e4da000001"} 0
        # HELP tryck_button_rssi_dbm The signal strength that the adapter measured last
        # TYPE tryck_button_rssi_dbm gauge
        tryck_button_rssi_dbm{button="kitchen",id="80e4da000001"} -60

        """
}
