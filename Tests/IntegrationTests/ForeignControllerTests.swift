import Foundation
import JSON
import Testing

/// The host and the simulated buttons, each on a RootCanal controller.
@Suite("Across RootCanal", .serialized, .ownThread)
struct ForeignControllerTests {
    private static let buttons = "kitchen: {}, hall: {public: false}"

    static let rules = """
        version: 1
        rules:
          - id: any_click
            triggers: {button: any, event: [click, hold]}
            actions:
              - publish: {topic: test/lamp, payload: toggle}
              - shell: echo "pressed by $TRYCK_EVENT"
        """

    private func pairAndPress(
        _ workshop: Workshop, transport: String, root: String, buttons: Program, preload: [String: String] = [:],
        library: String? = nil
    ) throws {
        let broker = try workshop.mosquitto()
        let subscriber = try workshop.subscriber(broker)
        try workshop.write("rules.yaml", ForeignControllerTests.rules)
        try workshop.write(
            "tryck.yaml",
            """
            bluetooth:
              transport: \(transport)
              trust_roots: ["\(root)"]
            mqtt: {broker: "mqtt://127.0.0.1:\(broker)"}
            rules: rules.yaml
            """)
        let daemon = try workshop.daemon(preload: library, environment: preload)
        try daemon.line(containing: "is ready")
        try subscriber.line(containing: "tryck/bridge/state online")

        let pair = try workshop.tryck(["pair", "--time", "30"])
        #expect(try pair.status(within: 60) == 0, "\(pair.text)")
        try daemon.line(containing: "is ready")
        buttons.write("kitchen click")
        // The message of the rule is published first.
        try subscriber.line(containing: "test/lamp toggle")
        try subscriber.line(containing: "/action click")

        // The button is pressed while the daemon does not run, and delivers the press when the daemon is back.
        daemon.stop()
        try subscriber.line(containing: "tryck/bridge/state offline")
        let again = try workshop.daemon(preload: library, environment: preload)
        buttons.write("kitchen click")
        try again.line(containing: "kitchen is ready", within: 60)
        buttons.write("kitchen hold")
        try subscriber.line(containing: "/action hold")
        let status = try workshop.tryck(["status"])
        #expect(try status.status() == 0, "\(status.text)")
        // The controller determines the signal strength.
        #expect(try ButtonCommandTests.shown(workshop, "kitchen")["rssi"]?.integerValue != nil)
    }

    @Test("a button on RootCanal pairs with the daemon on RootCanal, and its presses arrive")
    func acrossRootCanal() throws {
        let workshop = try Workshop()
        let air = try workshop.buttonsOnAir(Self.buttons)
        try pairAndPress(
            workshop, transport: "h4:tcp:127.0.0.1:\(air.port)", root: air.root, buttons: air.buttons)
    }

    @Test("the same with a controller that tryck simulates")
    func listening() throws {
        let workshop = try Workshop()
        try workshop.write("simulator.yaml", "buttons: {\(Self.buttons)}\n")
        let buttons = try workshop.tryck([
            "simulate", workshop.path("simulator.yaml"), "--listen", workshop.path("air.sock"),
        ])
        let root = try Workshop.root(of: buttons)
        try buttons.line(containing: "h4:unix:")
        try pairAndPress(
            workshop, transport: "\"h4:unix:\(workshop.path("air.sock"))\"", root: root, buttons: buttons)
    }

    @Test("the same through a program, which lends an adapter of another machine")
    func throughProgram() throws {
        let workshop = try Workshop()
        let air = try workshop.buttonsOnAir(Self.buttons)
        try pairAndPress(
            workshop, transport: Self.lent(try Workshop.setting("TRYCK_HCI_SHIM", "hci_user_shim.so"), air.port),
            root: air.root, buttons: air.buttons)
    }

    /// The transport through `tryck hci`, which opens the adapter that a shim simulates.
    static func lent(_ shim: String, _ port: Int, more: [String] = []) -> String {
        let words =
            ["env", "HCI_SHIM=127.0.0.1:\(port)", "LD_PRELOAD=\(shim)"] + more
            + [Workshop.built("tryck"), "hci", "0"]
        return "{command: [\(words.map { "\"\($0)\"" }.joined(separator: ", "))]}"
    }

    @Test("the same through the kernel's user channel, which the shim simulates")
    func throughUserChannel() throws {
        let workshop = try Workshop()
        let air = try workshop.buttonsOnAir(Self.buttons)
        try pairAndPress(
            workshop, transport: "hci:0", root: air.root, buttons: air.buttons,
            preload: ["HCI_SHIM": "127.0.0.1:\(air.port)"],
            library: try Workshop.setting("TRYCK_HCI_SHIM", "hci_user_shim.so"))
    }

    @Test("a certificate of an unknown root is not genuine, and pairing says what to do")
    func notGenuine() throws {
        let workshop = try Workshop()
        let air = try workshop.buttonsOnAir(Self.buttons)
        try workshop.write(
            "tryck.yaml", "bluetooth: {transport: \"h4:tcp:127.0.0.1:\(air.port)\"}\nmqtt: {broker: none}\n")
        let daemon = try workshop.daemon()
        try daemon.line(containing: "is ready")
        let pair = try workshop.tryck(["pair", "--time", "6"])
        #expect(try pair.status(within: 60) == 1)
        #expect(pair.text.contains("not a genuine Flic"))
        #expect(pair.text.contains("trust_roots"))
    }
}
