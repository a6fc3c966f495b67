import ButtonModel
import Bytes
import JSON
import Radios
import Rules

extension RecordedInput {
    /// The line of the recording, redacted, without its line feed. No `JSONValue` is made of it, because lines are written for each
    /// press and each turn of a dial.
    func line(hiding redaction: Redaction) -> RecordedLine {
        var octets: [UInt8] = []
        octets.reserveCapacity(Self.usualLineLength)
        octets.append(UInt8(ascii: "{"))
        octets.append(member: "at_ns", JSONValue(at.nanoseconds))
        let (kind, details) = described(hiding: redaction)
        octets.append(member: "input", .string(kind.rawValue))
        for (name, value) in details { octets.append(member: name, value) }
        let start = octets.count
        for report in reports where report.isRecorded {
            octets.append(contentsOf: (octets.count == start ? #","reports":["# : ",").utf8)
            report.write(into: &octets, hiding: redaction)
        }
        let hasReports = octets.count > start
        if hasReports { octets.append(UInt8(ascii: "]")) }
        if !started.isEmpty { octets.append(member: "started", .array(started.map(\.json))) }
        if isRepeated { octets.append(member: "repeated", true) }
        octets.append(UInt8(ascii: "}"))
        return RecordedLine(octets: octets, hasConsequences: hasReports || !started.isEmpty)
    }

    /// Most lines are shorter, in octets.
    private static let usualLineLength = 512

    /// The value of `line(hiding:)`, with which tests compare it.
    func json(hiding redaction: Redaction) -> JSONValue {
        var members: [JSONValue.Member] = [.init("at_ns", JSONValue(at.nanoseconds))]
        let (kind, details) = described(hiding: redaction)
        members.append(.init("input", .string(kind.rawValue)))
        members += details.map { JSONValue.Member($0, $1) }
        let reports = reports.compactMap { $0.json(hiding: redaction) }
        if !reports.isEmpty { members.append(.init("reports", .array(reports))) }
        if !started.isEmpty { members.append(.init("started", .array(started.map(\.json)))) }
        if isRepeated { members.append(.init("repeated", true)) }
        return .object(members)
    }

    init(_ line: JSONValue) throws(RecordingFailure) {
        let kind = try line.member("input") { $0.stringValue.flatMap(Kind.init(rawValue:)) }
        at = Instant(nanoseconds: try line.integer("at_ns"))
        input = try RecordedInput.input(kind, line)
        for report in try line.optional("reports", \.arrayValue) ?? [] {
            if let report = try ButtonReport(recorded: report) { reports.append(report) }
        }
        for job in try line.optional("started", \.arrayValue) ?? [] { started.append(try RecordedJob(recorded: job)) }
        isRepeated = try line.optional("repeated", \.boolValue) ?? false
    }

    /// The value of the member `input`.
    enum Kind: String, CaseIterable {
        /// Only in a recording that begins at the radio.
        case entropy
        case start
        case wallClock = "wall_clock"
        case transportOpened = "transport_opened"
        case received
        case transportClosed = "transport_closed"
        case sourceConnected = "source_connected"
        case sourceReceived = "source_received"
        case sourceClosed = "source_closed"
        case brokerAddress = "broker_address"
        case brokerConnected = "broker_connected"
        case brokerDisconnected = "broker_disconnected"
        case brokerSentMalformedPacket = "broker_sent_malformed_packet"
        case published
        case publishFailed = "publish_failed"
        case messageReceived = "message_received"
        case messageDropped = "message_dropped"
        case subscriptionRefused = "subscription_refused"
        case subscriptionGranted = "subscription_granted"
        case processEnded = "process_ended"
        case webAnswered = "web_answered"
        case rulesLoaded = "rules_loaded"
        case reloadRules = "reload_rules"
        case logLevel = "log_level"
        case firmwareFiles = "firmware_files"
        case firmwareRead = "firmware_read"
        case recordFailed = "record_failed"
        case reserveFault = "reserve_fault"
        case ringFault = "ring_fault"
        case historyFault = "history_fault"
        case synced
        case controlLine = "control_line"
        case clientGone = "client_gone"
        case flicd
        case timerFired = "timer_fired"
        case stop
        case expiringMessageReceived = "expiring_message_received"
    }

    private func described(hiding redaction: Redaction) -> (Kind, KeyValuePairs<String, JSONValue>) {
        switch input {
        case .start: (.start, [:])
        case .wallClock(let utc): (.wallClock, ["utc_ms": JSONValue(utc.milliseconds)])
        case .transportOpened(let radio), .busOpened(_, let radio):
            (.transportOpened, ["radio": JSONValue(radio.rawValue)])
        case .entropy, .received, .bus, .goOn, .uplink: (.received, [:])
        case .transportClosed(let reason, let fault, let radio):
            (
                .transportClosed,
                [
                    "reason": .string(redaction(reason)), "fault": .string(fault.rawValue),
                    "radio": JSONValue(radio.rawValue),
                ]
            )
        case .source(let index, .connected(let bootID)):
            (.sourceConnected, ["source": JSONValue(index), "boot_id": JSONValue(bootID)])
        case .source(let index, .received(let octets)):
            // The octets are not cut, because they are part of a stream. One read returns at most 16 KiB.
            (.sourceReceived, ["source": JSONValue(index), "octets": .string(octets.hex)])
        case .source(let index, .closed(let reason)):
            (.sourceClosed, ["source": JSONValue(index), "reason": .string(redaction(reason))])
        case .brokerAddress(let address): (.brokerAddress, ["address": .string(redaction(address))])
        case .brokerConnected: (.brokerConnected, [:])
        case .brokerDisconnected(let reason): (.brokerDisconnected, ["reason": .string(redaction(reason))])
        case .brokerSentMalformedPacket: (.brokerSentMalformedPacket, [:])
        case .published(let id): (.published, ["id": JSONValue(id.number)])
        case .publishFailed(let id, let reason):
            (.publishFailed, ["id": JSONValue(id.number), "reason": .string(redaction(reason))])
        case .messageReceived(let topicName, let payload, let retained):
            (
                .messageReceived,
                [
                    "topic": .string(redaction(topicName: topicName)),
                    "payload": JSONValue(octets: payload, hiding: redaction.ofReceived),
                    "retain": .bool(retained),
                ]
            )
        case .messageDropped(let reason): (.messageDropped, ["reason": .string(redaction(reason))])
        case .subscriptionRefused(let topicFilter, let reason):
            (
                .subscriptionRefused,
                ["filter": .string(redaction(topicFilter)), "reason": .string(redaction(reason))]
            )
        case .subscriptionGranted(let topicFilter):
            (.subscriptionGranted, ["filter": .string(redaction(topicFilter))])
        case .jobEnded(let id, .process(let result)):
            (
                .processEnded,
                [
                    "id": JSONValue(id.rawValue), "result": result.status.json(hiding: redaction),
                    "stdout": JSONValue(octets: result.standardOutput, hiding: redaction),
                    "stderr": JSONValue(octets: result.standardError, hiding: redaction),
                    "duration_ns": JSONValue(exactly: result.duration),
                ]
            )
        case .jobEnded(let id, .http(let result)):
            (
                .webAnswered,
                [
                    "id": JSONValue(id.rawValue), "answer": result.outcome.json(hiding: redaction),
                    "body": JSONValue(octets: result.body, hiding: redaction),
                    "duration_ns": JSONValue(exactly: result.duration),
                    "note": result.note.map { .string(redaction($0)) } ?? .null,
                ]
            )
        case .rulesLoaded(let id, let loaded):
            (
                .rulesLoaded,
                [
                    "id": JSONValue(id.rawValue),
                    "rules": loaded.source?.json ?? .null,
                    "problems": redaction(.array(loaded.problems)), "summary": .string(redaction(loaded.summary)),
                    "failing": loaded.failing.map { .string($0) } ?? .null,
                ]
            )
        case .reloadRules: (.reloadRules, [:])
        case .logLevel(let level): (.logLevel, ["level": .string(level.rawValue)])
        case .firmwareFiles(let files):
            (
                .firmwareFiles,
                ["files": .array(files.map { ["model": .string($0.model), "version": JSONValue($0.version)] })]
            )
        case .firmwareRead(let id, let reading):
            // The octets have no effect on the hub's decisions, because they are only sent to the button.
            switch reading {
            case .octets: (.firmwareRead, ["id": JSONValue(id.rawValue)])
            case .failed(let reason):
                (.firmwareRead, ["id": JSONValue(id.rawValue), "reason": .string(redaction(reason))])
            }
        case .recordFailed(let token, let reason, let refuge):
            (
                .recordFailed,
                [
                    "id": JSONValue(token?.rawValue ?? 0), "reason": .string(redaction(reason)),
                    "refuge": .string(refuge.rawValue),
                ]
            )
        case .reserveFault(let reason):
            (.reserveFault, ["reason": reason.map { .string(redaction($0)) } ?? .null])
        case .ringFault(let reason):
            (.ringFault, ["reason": reason.map { .string(redaction($0)) } ?? .null])
        case .historyFault(let reason):
            (.historyFault, ["reason": reason.map { .string(redaction($0)) } ?? .null])
        case .synced(let token, let success): (.synced, ["id": JSONValue(token.rawValue), "success": .bool(success)])
        case .controlLine(let client, let line):
            // The line is not cut, because a part of a request cannot be replayed. `ControlServer` limits its length.
            (
                .controlLine,
                [
                    "client": JSONValue(client.rawValue),
                    "line": JSONValue(octets: line, hiding: redaction.ofReceived, keeping: .max),
                ]
            )
        case .clientGone(let client): (.clientGone, ["client": JSONValue(client.rawValue)])
        case .flicd(let report): (.flicd, ["report": report.json(hiding: redaction)])
        case .timerFired: (.timerFired, [:])
        case .stop: (.stop, [:])
        case .expiringMessageReceived(let topicName, let payload, let retained, let remaining):
            (
                .expiringMessageReceived,
                [
                    "topic": .string(redaction(topicName: topicName)),
                    "payload": JSONValue(octets: payload, hiding: redaction.ofReceived),
                    "retain": .bool(retained), "remaining_ns": JSONValue(exactly: remaining),
                ]
            )
        }
    }

    /// The token of a failed record; `nil` for the number 0, which represents a record without a token.
    private static func token(_ line: JSONValue) throws(RecordingFailure) -> RecordToken? {
        let number: UInt64 = try line.integer("id")
        return number == 0 ? nil : RecordToken(rawValue: number)
    }

    private static func input(_ kind: Kind, _ line: JSONValue) throws(RecordingFailure) -> Hub.Input {
        switch kind {
        case .entropy: .entropy(try line.octets("octets"))
        case .start: .start
        case .wallClock: .wallClock(try line.member("utc_ms", \.clockTime))
        case .transportOpened: .transportOpened(try RadioID(recorded: line))
        case .received: .received(line["packet"] == nil ? [] : try line.octets("packet"))
        case .transportClosed:
            .transportClosed(
                try line.string("reason"),
                try line.member("fault") { $0.stringValue.flatMap(AdapterFault.init(rawValue:)) },
                try RadioID(recorded: line))
        case .sourceConnected:
            .source(try line.integer("source"), .connected(bootID: try line.integer("boot_id")))
        case .sourceReceived:
            .source(
                try line.integer("source"),
                .received(try line.member("octets") { $0.stringValue.flatMap { [UInt8](hex: $0) } }))
        case .sourceClosed: .source(try line.integer("source"), .closed(try line.string("reason")))
        case .brokerAddress: .brokerAddress(try line.string("address"))
        case .brokerConnected: .brokerConnected
        case .brokerDisconnected: .brokerDisconnected(try line.string("reason"))
        case .brokerSentMalformedPacket: .brokerSentMalformedPacket
        case .published: .published(MessageID(number: try line.integer("id")))
        case .publishFailed: .publishFailed(MessageID(number: try line.integer("id")), try line.string("reason"))
        case .messageReceived:
            .messageReceived(
                topicName: try line.string("topic"), payload: try line.octets("payload"),
                retained: try line.bool("retain"))
        case .messageDropped: .messageDropped(try line.string("reason"))
        case .subscriptionRefused:
            .subscriptionRefused(topicFilter: try line.string("filter"), reason: try line.string("reason"))
        case .subscriptionGranted: .subscriptionGranted(topicFilter: try line.string("filter"))
        case .processEnded:
            .jobEnded(
                JobID(rawValue: try line.integer("id")),
                .process(
                    ProcessResult(
                        status: try ProcessResult.Status(recorded: try line.member("result") { $0 }),
                        standardOutput: try line.octets("stdout"), standardError: try line.octets("stderr"),
                        duration: try line.duration("duration_ns"))))
        case .webAnswered:
            .jobEnded(
                JobID(rawValue: try line.integer("id")),
                .http(
                    HTTPResult(
                        outcome: try HTTPResult.Outcome(recorded: try line.member("answer") { $0 }),
                        body: try line.octets("body"), duration: try line.duration("duration_ns"),
                        note: try line.optional("note", \.stringValue))))
        case .rulesLoaded:
            .rulesLoaded(
                JobID(rawValue: try line.integer("id")),
                RuleLoadReport(
                    set: nil,
                    source: try line.optional("rules") { $0 }.map { (rules) throws(RecordingFailure) in
                        try RecordedRules(recorded: rules)
                    },
                    problems: try line.member("problems", \.arrayValue), summary: try line.string("summary"),
                    failing: try line.optional("failing", \.stringValue)))
        case .reloadRules: .reloadRules
        case .logLevel:
            .logLevel(try line.member("level") { $0.stringValue.flatMap(LogLevel.init(rawValue:)) })
        case .firmwareFiles:
            .firmwareFiles(
                try line.member("files", \.arrayValue).map { (file) throws(RecordingFailure) in
                    FirmwareFile(model: try file.string("model"), version: try file.integer("version"))
                })
        case .firmwareRead:
            .firmwareRead(
                JobID(rawValue: try line.integer("id")),
                try line.optional("reason", \.stringValue).map { .failed($0) } ?? .octets([]))
        case .recordFailed:
            .recordFailed(
                try token(line), try line.string("reason"),
                try line.optional("refuge") { $0.stringValue.flatMap(RecordRefuge.init(rawValue:)) } ?? .memory)
        case .reserveFault: .reserveFault(try line.optional("reason", \.stringValue))
        case .ringFault: .ringFault(try line.optional("reason", \.stringValue))
        case .historyFault: .historyFault(try line.optional("reason", \.stringValue))
        case .synced: .synced(RecordToken(rawValue: try line.integer("id")), try line.bool("success"))
        case .controlLine:
            .controlLine(Hub.ClientID(rawValue: try line.integer("client")), try line.octets("line"))
        case .clientGone: .clientGone(Hub.ClientID(rawValue: try line.integer("client")))
        case .flicd: .flicd(try FlicdReport(recorded: try line.member("report") { $0 }))
        case .timerFired: .timerFired
        case .stop: .stop
        case .expiringMessageReceived:
            .expiringMessageReceived(
                topicName: try line.string("topic"), payload: try line.octets("payload"),
                retained: try line.bool("retain"), remaining: try line.duration("remaining_ns"))
        }
    }
}

extension RecordedJob {
    fileprivate var json: JSONValue { ["id": JSONValue(id.rawValue), "work": .string(fingerprint)] }

    fileprivate init(recorded job: JSONValue) throws(RecordingFailure) {
        self.init(id: JobID(rawValue: try job.integer("id")), fingerprint: try job.string("work"))
    }
}

extension HTTPResult.Outcome {
    fileprivate func json(hiding redaction: Redaction) -> JSONValue {
        switch self {
        case .answered(let status): ["status": JSONValue(status)]
        case .failed(let reason): ["failed": .string(redaction(reason))]
        }
    }

    fileprivate init(recorded value: JSONValue) throws(RecordingFailure) {
        if value["status"] != nil {
            self = .answered(status: try value.integer("status"))
        } else {
            self = .failed(try value.string("failed"))
        }
    }
}

extension ProcessResult.Status {
    fileprivate func json(hiding redaction: Redaction) -> JSONValue {
        switch self {
        case .exited(let status): ["exited": JSONValue(status)]
        case .signalled(let signal): ["signalled": JSONValue(signal)]
        case .couldNotStart(let reason): ["could_not_start": .string(redaction(reason))]
        }
    }

    fileprivate init(recorded value: JSONValue) throws(RecordingFailure) {
        if value["exited"] != nil {
            self = .exited(try value.integer("exited"))
        } else if value["signalled"] != nil {
            self = .signalled(try value.integer("signalled"))
        } else {
            self = .couldNotStart(try value.string("could_not_start"))
        }
    }
}
