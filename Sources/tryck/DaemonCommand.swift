import ArgumentParser
import ButtonModel
import Daemon
import Hub
import Platform
import Simulator
import TrialEdges

/// The daemon with simulated buttons and a private broker, which `tryckd` does not contain.
struct DaemonCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "daemon", abstract: "Run the daemon with simulated buttons or a private broker.",
        discussion: """
            Has the options of tryckd, which executes this command if its configuration has simulated buttons or a \
            private broker.

              tryck daemon --config tryck.yaml
            """,
        // `tryck run` does the same for every configuration.
        shouldDisplay: false)

    @Argument(parsing: .captureForPassthrough)
    var arguments: [String] = []

    // The plugin CommitPlugin generates `builtCommit` and `builtHomepage`.
    func run() { runDaemon(arguments, commit: builtCommit, homepage: builtHomepage, trialParts: .all) }
}

extension TrialParts {
    fileprivate static var all: TrialParts {
        TrialParts { buttons, hub in
            let descriptions = buttons.map { SimulatedButtonDescription($0) }
            hub.extraTrustRoots.append(SimulatorRoot.publicKey)
            hub.simulatedButtons = descriptions.map(\.name)
            hub.simulatedIdentities = Dictionary(descriptions.map { ($0.name, $0.identity) }) { first, _ in first }
        } simulation: { loop, buttons, stored, note in
            // A simulated button keeps its pairings, as a real one does; the rest of its state is new, as after a battery
            // change.
            let descriptions = buttons.map { button in
                var description = SimulatedButtonDescription(button)
                let id = ButtonID(description.wantedAddress)
                description.pairings = stored.filter { $0.id == id }.compactMap(\.pairing)
                return description
            }
            let edge = SimulatorEdge(loop: loop, buttons: descriptions, seed: SystemEnvironment.randomSeed, note: note)
            return (
                edge,
                { button, press in
                    guard let action = SimulatedAction(name: press) else { return false }
                    edge.act(action, on: button)
                    return true
                }
            )
        } broker: { loop, directory, runtimeDirectory, ready, failed in
            var otherPlaces = runtimeDirectory.map { [EmbeddedBroker.Place.directory($0)] } ?? []
            otherPlaces += SystemEnvironment.temporaryDirectories.map { .temporary(in: $0) }
            let broker = EmbeddedBroker(
                loop: loop, directory: directory, otherPlaces: otherPlaces, seed: SystemEnvironment.randomSeed
            ) {
                switch $0 {
                case .ready(let path): ready(path)
                case .failed(let reason): failed(reason)
                }
            }
            broker.start()
            return { broker.stop() }
        }
    }
}
