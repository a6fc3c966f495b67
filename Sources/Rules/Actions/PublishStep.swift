package import Expressions

/// A `publish` step.
package struct PublishStep: Hashable, Sendable {
    package var topicName: Template
    package var payload: PayloadTemplate
    /// The quality of service, 0…2.
    package var qos: Int
    package var retain: Bool
    /// How long the message may wait while the broker is not connected.
    package var maximumAge: Duration

    package init(
        topicName: Template, payload: PayloadTemplate = .nothing, qos: Int = 0, retain: Bool = false,
        maximumAge: Duration = .seconds(5)
    ) {
        self.topicName = topicName
        self.payload = payload
        self.qos = qos
        self.retain = retain
        self.maximumAge = maximumAge
    }
}

/// A message to publish.
package struct PublishAction: Hashable, Sendable {
    /// A topic name without wildcards, at most 65 535 octets.
    package var topicName: String
    package var payload: [UInt8]
    /// The quality of service, 0…2.
    package var qos: Int
    package var retain: Bool
    /// How long the message may wait while the broker is not connected.
    package var maximumAge: Duration

    package init(
        topicName: String, payload: [UInt8], qos: Int = 0, retain: Bool = false, maximumAge: Duration = .seconds(5)
    ) {
        self.topicName = topicName
        self.payload = payload
        self.qos = qos
        self.retain = retain
        self.maximumAge = maximumAge
    }
}

// MARK: - Evaluation

extension PublishStep {
    func forEachTemplate(_ body: (Template) -> Void) {
        body(topicName)
        payload.forEachTemplate(body)
    }
}

extension PublishAction {
    var details: String {
        "\(topicName) \(String(decoding: payload, as: UTF8.self))" + (retain ? " (retained)" : "")
    }

    var aspects: [ActionAspect] {
        [
            ActionAspect(name: "topic", value: topicName),
            ActionAspect(name: "payload", value: String(decoding: payload, as: UTF8.self)),
            ActionAspect(name: "qos", value: "\(qos)"), ActionAspect(name: "retain", value: "\(retain)"),
            ActionAspect(name: "max_age", value: "\(maximumAge)"),
        ]
    }

    /// The message as shown in traces.
    var summary: String {
        let payload = String(decoding: payload, as: UTF8.self)
        return "publish \(Run.traceText(topicName))" + (payload.isEmpty ? "" : " \(Run.traceText(payload))")
    }
}

extension StepValues {
    /// The maximum length of a topic name in octets (MQTT 3.1.1, 1.5.3).
    static let maximumTopicLength = 65_535

    /// - Throws: R831 for an empty topic or a value that adds topic levels, R804 for a topic that is too long.
    mutating func action(_ step: PublishStep) throws(StepFailure) -> PublishAction {
        let topicName = try text(step.topicName)
        guard !topicName.isEmpty else { throw StepFailure("R831", "the topic is empty") }
        guard topicName.utf8.count <= StepValues.maximumTopicLength else {
            throw StepFailure("R804", "the topic is longer than 65535 octets")
        }
        return PublishAction(
            topicName: topicName, payload: try octets(step.payload), qos: step.qos, retain: step.retain,
            maximumAge: step.maximumAge)
    }
}
