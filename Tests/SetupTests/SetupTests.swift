import ButtonModel
import DiskTestSupport
import Hub
import Rules
import Testing

@testable import Platform
@testable import Setup

@Suite("From the configuration to the hub")
struct SetupTests {
    private func setup(_ configuration: String, logLevel: String? = nil) throws -> Setup {
        let directory = TemporaryDirectory()
        writeFile(directory.path + "/tryck.yaml", configuration.utf8)
        var options = DaemonOptions()
        options.configuration = directory.path + "/tryck.yaml"
        options.stateDirectory = directory.path + "/state"
        options.logLevel = logLevel
        return try Setup(options, environment: [:])
    }

    @Test("buttons are announced below the prefix, and not at all without discovery")
    func discovery() throws {
        let usual = try setup("mqtt: {broker: none}").hub
        #expect(usual.discoveryPrefix == "homeassistant")
        #expect(usual.homeAssistantStatusTopic == "homeassistant/status")
        let other = try setup("homeassistant: {prefix: ha/x, status_topic: ha/status}")
        #expect(other.hub.discoveryPrefix == "ha/x")
        #expect(other.hub.homeAssistantStatusTopic == "ha/status")
        #expect(other.warnings == [])
        #expect(try setup("homeassistant: {discovery: false}").hub.discoveryPrefix == nil)
    }

    @Test("the command line has the last word about the log's level")
    func logLevel() throws {
        #expect(try setup("{}").hub.logLevel == .info)
        #expect(try setup("log: {level: debug}").hub.logLevel == .debug)
        #expect(try setup("log: {level: debug}", logLevel: "error").hub.logLevel == .error)
        let failure = try #require(throws: Setup.Failure.self) { try setup("{}", logLevel: "loud") }
        #expect(failure.text == "--log-level takes error, warning, info or debug, not \"loud\"")
        #expect(failure.status == .usage)
    }
}
