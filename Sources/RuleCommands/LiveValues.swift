import CommandSupport
import JSON
import MQTTTopics
import RuleTesting

extension LiveValues {
    /// Asks the daemon.
    init(_ control: ControlOptions) throws(Failure) {
        self.init(
            states: try control.ask(RuleRequestName.states).arrayValue ?? [],
            variables: try control.ask(RuleRequestName.variables).arrayValue ?? [],
            rules: try control.ask(RuleRequestName.rules).arrayValue ?? [])
    }
}
