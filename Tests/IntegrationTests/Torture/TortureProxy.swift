import Foundation
import TestSupport

/// The radios of the daemon of a `Torture`.
enum TortureRadios: CaseIterable {
    case adapter
    /// An ESPHome proxy that fails in each life of the daemon, and an adapter with room for half of the buttons, so that the others
    /// need the proxy.
    case proxyAndAdapter
}

/// The stand-in for an ESPHome proxy, and a connection for commands, which make it fail.
final class TortureProxy {
    private enum Fault: CaseIterable {
        /// It closes the connection.
        case drop
        /// It is away for a moment, and has forgotten all.
        case reboot
        /// It says nothing, and so loses what the buttons send.
        case mute
        /// It cannot connect a button for as long as an attempt may last, and hears nothing meanwhile.
        case hang
        /// It cannot connect two buttons.
        case fail
        /// It loses a link.
        case lose
    }

    private static let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

    /// Its entry in the list `radios:`.
    let entry: String
    private let commands: Program
    /// The faults until each was there once.
    private var next: [Fault] = []

    init(_ workshop: Workshop, air: Int) throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../support/esphome_proxy.py")
        let program = try workshop.start(
            try Workshop.python(),
            [
                script.path, "--hci", "tcp-client:127.0.0.1:\(air)", "--psk", Self.key, "--scan", "100/100",
                "--connect-limit", "3", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0",
            ])
        let address = try program.line(containing: "ready ").dropFirst("ready ".count)
        let control = try program.line(containing: "control ").split(separator: ":").last ?? ""
        entry = "{esphome: \"\(address)\", key: \"\(Self.key)\", name: hall}"
        commands = try workshop.start(
            "/usr/bin/python3",
            [
                "-c",
                """
                import socket, sys
                stream = socket.create_connection(("127.0.0.1", int(sys.argv[1]))).makefile("rw")
                for line in sys.stdin:
                    stream.write(line)
                    stream.flush()
                    print(line.strip(), stream.readline(), end="", flush=True)
                """, "\(control)",
            ])
    }

    /// Ends the last fault, and begins another one. The commands are not waited for, because the buttons need this thread.
    ///
    /// - Parameter button: the address of the button whose link may be lost.
    /// - Returns: the command.
    func fail(button: String, using random: inout SeededGenerator) -> String {
        recover()
        if next.isEmpty { next = Fault.allCases.shuffled(using: &random) }
        let command =
            switch next.removeLast() {
            case .drop: "drop"
            case .reboot: "reboot \(Double.random(in: 0...2, using: &random))"
            case .mute: "mute"
            case .hang: "hang 1"
            case .fail: "fail 2 0x85"
            case .lose: "lose \(button)"
            }
        commands.write(command)
        return command
    }

    /// Ends a fault that would not end by itself.
    func recover() { commands.write("unmute") }

    /// The commands that the proxy has carried out, and its answers to others.
    var answers: [String] { commands.lines }
}
