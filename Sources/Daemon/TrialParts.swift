import CLinux
package import Edges
import Glibc
package import Hub
import Platform
package import Reactor
package import Settings

/// The parts that only a trial needs: simulated buttons and a private broker. `tryckd` contains none of it, because it runs with
/// privileges; `tryck daemon` passes its parts to `runDaemon`.
package struct TrialParts: Sendable {
    /// The simulated controller, and a function that presses a button and returns false for an unknown press.
    package typealias Simulation = (
        transport: any HCITransport, press: @ReactorActor (_ button: String, _ press: String) -> Bool
    )

    package typealias Note = @ReactorActor (_ button: String, _ what: String) -> Void
    package typealias Report = @ReactorActor (String) -> Void
    package typealias Describe = @Sendable ([SimulatorButton], inout HubConfiguration) -> Void
    package typealias Simulate =
        @ReactorActor @Sendable (EventLoop, [SimulatorButton], [StoredButton], @escaping Note) -> Simulation
    package typealias StartBroker =
        @ReactorActor @Sendable (
            EventLoop, _ directory: String, _ runtimeDirectory: String?, _ ready: @escaping Report,
            _ failed: @escaping Report
        ) -> @ReactorActor () -> Void

    /// Tells the hub about the simulated buttons.
    let describe: Describe
    /// Creates the simulated buttons, which have the pairings of the stored buttons.
    let simulation: Simulate
    /// Starts a broker in a directory of its own, and returns the function that ends it. `ready` receives the path of
    /// its socket after each start, and `failed` a sentence. If the directory cannot be written, because the disk is full or
    /// read-only, the broker uses the runtime directory, or else a temporary one.
    let broker: StartBroker

    package init(
        describe: @escaping Describe, simulation: @escaping Simulate, broker: @escaping StartBroker
    ) {
        self.describe = describe
        self.simulation = simulation
        self.broker = broker
    }
}

extension Configuration {
    var isSimulated: Bool {
        usedRadios.contains { if case .simulated = $0.transport { true } else { false } }
    }

    /// True if a radio is, or with `auto` may become, an adapter that only this process uses.
    fileprivate var mayOpenAdapter: Bool {
        usedRadios.contains {
            switch $0.transport {
            case .auto, .hciIndex, .hciAddress: true
            case .bluez, .bluezIndex, .bluezAddress, .h4TCP, .h4Unix, .command, .esphome, .simulated, .none: false
            }
        }
    }
}

/// Executes `tryck daemon`, which is beside this program, with the arguments of this process, if the configuration needs
/// `TrialParts`. Returns only if it does not.
///
/// `tryckd` can have its capability from its file. `tryck` would then not have it, and must not get it, because a link to
/// `tryckd` beside a foreign `tryck` would otherwise give the capability to any program.
func becomeTrialDaemon(if configuration: Configuration) {
    let setting =
        configuration.isSimulated
        ? "bluetooth.transport: simulated" : configuration.broker == .embedded ? "mqtt.broker: embedded" : nil
    guard let setting else { return }
    guard !configuration.mayOpenAdapter || linux_keeps_net_admin_on_exec() != 0 else {
        let remedy =
            configuration.isSimulated
            ? "name no adapter beside the simulated buttons"
            : "set mqtt.broker to mqtt://localhost:1883, where mosquitto listens as a service"
        stop(
            """
            \(setting) needs the program tryck, which may not open an adapter: the capability of tryckd belongs to its \
            file. Start tryckd by tryck.service, which passes the capability on, or \(remedy).
            """, .configuration)
    }
    let program = SystemEnvironment.directory(of: ownPath) + "/tryck"
    let arguments = [program, "daemon"] + CommandLine.arguments.dropFirst()
    execv(program, arguments.map { strdup($0) } + [nil])
    stop(
        """
        \(setting) needs the program tryck beside tryckd, and \(program) cannot be started: \(systemMessage(errno)). \
        Install it, or build it with: swift build --product tryck
        """, .configuration)
}
