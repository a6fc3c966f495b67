import Foundation
import JSON
import Testing

/// A daemon that is to share an adapter with BlueZ, on a system bus of its own. `Tests/Guest` has bluetoothd.
@Suite("An adapter that BlueZ shares", .serialized, .ownThread)
struct SharedAdapterTests {
    private let workshop: Workshop
    private var address: String { "unix:path=\(workshop.path("bus"))" }

    init() throws {
        workshop = try Workshop()
        try workshop.write("tryck.yaml", "bluetooth: {transport: bluez}\nmqtt: {broker: none}\n")
    }

    private func bus() throws -> Program {
        let bus = try workshop.start(
            "/usr/bin/dbus-daemon", ["--session", "--nofork", "--print-address", "--address=\(address)"])
        try bus.line(containing: "unix:path=")
        return bus
    }

    private func daemon() throws -> Program {
        try workshop.daemon(environment: ["DBUS_SYSTEM_BUS_ADDRESS": address])
    }

    private func doctor() throws -> JSONValue {
        let doctor = try workshop.start(
            Workshop.built("tryck"),
            [
                "doctor", "--json", "--config", workshop.path("tryck.yaml"), "--state-directory",
                workshop.path("state"),
                "--control-socket", workshop.path("control.sock"),
            ], environment: ["DBUS_SYSTEM_BUS_ADDRESS": address])
        _ = try doctor.status()
        let findings = try JSONValue(parsing: doctor.text)["findings"]?.arrayValue ?? []
        return findings.first { $0["check"] == "adapter" } ?? .null
    }

    @Test("without a bus, without BlueZ, and after the end of the bus, the daemon says what to do and tries again")
    func absent() throws {
        let daemon = try daemon()
        try daemon.line(containing: "bluez: there is no system bus (No such file or directory)")
        let bus = try bus()
        try daemon.line(
            containing: "bluez: BlueZ is not running. Start it: `sudo systemctl start bluetooth`", within: 60)
        bus.signal(SIGTERM)
        _ = try bus.status()
        try daemon.line(containing: "bluez: there is no system bus", within: 60)
        daemon.signal(SIGTERM)
        #expect(try daemon.status() == 0)
    }

    @Test("doctor says so, too")
    func examined() throws {
        #expect(try doctor()["sentence"]?.stringValue?.hasPrefix("there is no system bus") == true)
        let bus = try bus()
        #expect(try doctor()["sentence"]?.stringValue?.hasPrefix("BlueZ is not running") == true)
        #expect(try doctor()["mend"] == "sudo systemctl start bluetooth")
        bus.signal(SIGTERM)
        _ = try bus.status()
    }

    @Test("without BlueZ, the transport auto takes an adapter for itself")
    func auto() throws {
        try workshop.write("tryck.yaml", "bluetooth: {transport: auto}\nmqtt: {broker: none}\n")
        let bus = try bus()
        let port = try workshop.rootCanal()
        try workshop.write("adapter", "0 00:1A:7D:DA:71:13 0\n")
        let daemon = try workshop.daemon(
            preload: try Workshop.setting("TRYCK_HCI_SHIM", "hci_user_shim.so"),
            environment: [
                "DBUS_SYSTEM_BUS_ADDRESS": address, "HCI_SHIM": "127.0.0.1:\(port)",
                "HCI_SHIM_STATE": workshop.path("adapter"),
            ])
        try daemon.line(containing: "on auto is ready")
        #expect(!daemon.text.contains("BlueZ"), "\(daemon.text)")
        bus.signal(SIGTERM)
        _ = try bus.status()
    }
}
