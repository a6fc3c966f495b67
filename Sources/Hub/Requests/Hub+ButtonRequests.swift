import ButtonModel
import Buttons
import Bytes
import Expressions
import JSON
import MQTTTopics
import Rules

// Requests about one button. The member `id` is its name, id, address or serial number.
extension Hub {
    /// The maximum number of characters of a name that `button/rename` gives.
    static let maximumNameLength = 64
    /// The auto-disconnect times in seconds that a Flic honours and its packet can express.
    static let autoDisconnectTimes: ClosedRange<Int64> = 40...510

    static let buttonRequests = ButtonRequestName.allCases.map { name in
        RequestKind(name: name.rawValue, privilege: name.privilege) { hub, data, context in
            hub.answerButtonRequest(name, data, isLocal: context.isLocal, at: context.now)
        }
    }

    mutating func answerButtonRequest(
        _ name: ButtonRequestName, _ data: JSONValue, isLocal: Bool, at now: Instant
    ) -> RequestAnswer {
        let button: ButtonID
        do throws(RequestFailure) {
            button = try self.button(named: data["id"] ?? data["from"], for: name.rawValue)
        } catch {
            return .error(error.sentence)
        }
        if let source = buttons[button]?.source, let refusal = name.refusal(source, isSite: isOfSite(button)) {
            return .error(refusal)
        }
        switch name {
        case .describe: return .ok(buttons[button].map(describe) ?? .null)
        case .remove: return remove(button, data, at: now)
        case .rename: return rename(button, data, at: now)
        case .options: return setButtonOptions(button, data, at: now)
        case .connect: return setConnectionWanted(true, button, at: now)
        case .disconnect: return setConnectionWanted(false, button, at: now)
        case .led:
            let model = buttons[button]?.identity.model ?? .flic2
            return .error(
                model.hasLEDMode
                    ? "the lights of a \(model.productName) cannot be controlled; led_mode sets how they show its position"
                    : "the light of a \(model.productName) cannot be controlled; it only shows what the button does")
        case .update: return update(button, data, isLocal: isLocal, at: now)
        case .cancelUpdate:
            advanceButtons(.request(button, .cancelFirmwareUpdate), at: now)
            return named(button)
        case .factoryReset: return factoryReset(button, data, at: now)
        }
    }

    // MARK: Which button

    private struct RequestFailure: Error {
        var sentence: String
    }

    private func button(named value: JSONValue?, for request: String) throws(RequestFailure) -> ButtonID {
        guard let text = value?.stringValue, !text.isEmpty else {
            throw RequestFailure(sentence: #"\#(request) takes {"id": a button's name, id, serial number or address}"#)
        }
        let found = buttons(called: text)
        guard let button = found.first else {
            let near = Suggestions.nearest(to: text, among: buttons.keys.sorted().map { label(of: $0) })
            throw RequestFailure(
                sentence: "there is no button \"\(text)\"; "
                    + (near.map { "did you mean \"\($0)\"?" } ?? "\"tryck buttons\" lists those that are paired"))
        }
        guard found.count == 1 else {
            throw RequestFailure(
                sentence: "\(found.count) buttons are called \"\(text)\"; use a serial number")
        }
        return button
    }

    private func buttons(called text: String) -> [ButtonID] { buttons.buttons(called: text, label: label) }

    func named(_ button: ButtonID) -> RequestAnswer {
        .ok(["id": .string(button.description), "button": .string(label(of: button))])
    }

    /// True if the button belongs to a site, where most of it is changed.
    private func isOfSite(_ button: ButtonID) -> Bool {
        buttons[button]?.source.map { EngineFeed.isSite(source: $0) } ?? false
    }

    // MARK: Names

    /// `force` is accepted because programs written for other bridges send it. It changes nothing.
    private mutating func remove(_ button: ButtonID, _ data: JSONValue, at now: Instant) -> RequestAnswer {
        guard data["force"].map({ $0.boolValue != nil }) ?? true else {
            return .error(#""force" must be true or false"#)
        }
        var answer = named(button)
        if let name = rules.declaredName(of: button),
            let place = rules.set.buttons.first(where: { $0.name == name })?.location
        {
            answer = answer.withNote("the rules still name it: \"\(name)\" in \(place.file):\(place.line)")
        }
        if let source = buttons[button]?.source {
            if let refusal = forget(button, from: source, at: now) { return .error(refusal) }
        } else {
            advanceButtons(.forget(button), at: now)
        }
        return answer
    }

    private mutating func rename(_ button: ButtonID, _ data: JSONValue, at now: Instant) -> RequestAnswer {
        guard let text = data["to"]?.stringValue, text.count <= Self.maximumNameLength,
            !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            return .error(
                #""to" is the new name, at most \#(Self.maximumNameLength) characters; "" removes the name"#)
        }
        guard text.isEmpty || text.unicodeScalars.contains(where: \.isVisible) else {
            return .error(#"a name cannot consist of blanks only; "" removes the name"#)
        }
        // Blanks around a name cannot be seen, so later requests with the name would not contain them.
        let name = text.withoutOuterBlanks
        // The id, address or serial number of another button is taken as well.
        let isTaken = buttons(called: name).contains { $0 != button }
        guard name.isEmpty || !isTaken else { return .error("another button is called \"\(name)\"") }
        guard let renamesEntities = data["homeassistant_rename"].map(\.boolValue) ?? false else {
            return .error(#""homeassistant_rename" must be true or false"#)
        }
        let before = buttons[button]?.displayName ?? ""
        announce(buttons.renamed(button, name.isEmpty ? nil : name), at: now)
        if renamesEntities { broker.renameEntities(of: button) }
        let answer = RequestAnswer.ok(renaming(of: button, before: before))
        guard isOfSite(button) else { return answer }
        return answer.withNote(
            "the button has this name at this engine only; its site and other engines have their own")
    }

    // MARK: Options

    /// Sets all options, or none if one of them is wrong.
    private mutating func setButtonOptions(_ button: ButtonID, _ data: JSONValue, at now: Instant) -> RequestAnswer {
        let answer = answerToOptions(button, data, at: now)
        // A select in Home Assistant shows the state again after a refusal.
        if case .error = answer { invalidate(.status(button)) }
        return answer
    }

    private mutating func answerToOptions(_ button: ButtonID, _ data: JSONValue, at now: Instant) -> RequestAnswer {
        guard let options = data["options"]?.objectValue, !options.isEmpty else {
            return .error(#"button/options takes {"id": …, "options": {"latency_mode": "low"}}"#)
        }
        let model = buttons[button]?.identity.model ?? .flic2
        var requests: [ButtonRequest] = []
        var positions: [DialPosition] = []
        var mode: TriggerMode??
        for option in options {
            let value = option.value
            guard let name = ButtonOption(rawValue: option.name), model.options.contains(name) else {
                let names = model.options.map(\.rawValue).joined(separator: ", ")
                return .error("a \(model.productName) has no option \"\(option.name)\"; it has \(names)")
            }
            if let source = buttons[button]?.source, isOfSite(button), name != .triggerMode {
                return .error(
                    "the button belongs to \(source); change its \(name.rawValue) at that site"
                        + (name == .nickname ? ", or give it a name at this engine with button/rename" : ""))
            }
            switch name {
            case .triggerMode:
                guard let name = value.stringValue, name == "auto" || TriggerMode(rawValue: name) != nil else {
                    let names = TriggerMode.allCases.map(\.rawValue).joined(separator: ", ")
                    return .error("trigger_mode must be one of auto, \(names)")
                }
                let wanted = TriggerMode(rawValue: name)
                if let wanted, let refusal = rules.refusal(of: wanted, for: button) { return .error(refusal) }
                mode = .some(wanted)
            case .nickname:
                guard let nickname = value.stringValue else { return .error("nickname must be a text") }
                if let source = buttons[button]?.source {
                    return .error(
                        "the nickname of a button of \(source) cannot be changed; rename the button with button/rename")
                }
                requests.append(.setNickname(nickname, at: wallClock(at: now)))
            case .latencyMode:
                guard let mode = value.stringValue.flatMap(LatencyMode.init) else {
                    return .error("latency_mode must be low, normal or high")
                }
                requests.append(.setLatencyMode(mode))
            case .autoDisconnectTime:
                if value == .null {
                    requests.append(.setAutoDisconnectTime(nil))
                } else if let seconds = value.integerValue, Self.autoDisconnectTimes.contains(seconds) {
                    requests.append(.setAutoDisconnectTime(UInt16(seconds)))
                } else {
                    return .error("auto_disconnect_time must be 40 to 510 seconds, or null for never")
                }
            case .ledMode:
                guard let mode = value.stringValue.flatMap(LEDMode.init) else {
                    return .error("led_mode must be one of \(LEDMode.allCases.map(\.rawValue).joined(separator: ", "))")
                }
                requests.append(.setLEDMode(mode))
            case .positions:
                guard let wanted = DialPosition.all(in: value, of: model) else {
                    let dials = Dial.all(of: model).map(\.name).joined(separator: ", ")
                    return .error(
                        #"positions must be {"DIAL": 0 to 100}; the dials of a \#(model.productName) are \#(dials)"#)
                }
                positions += wanted
            }
        }
        let chosen = settings(of: button, after: requests, at: now)
        var dials: [Dial: Int] = [:]
        for position in positions {
            let units = Dial.units(percentage: position.percentage)
            advanceButtons(.request(button, .setDial(position.dial, units: units)), at: now)
            dials[position.dial] = units
        }
        let change = buttons.optionsChosen(
            button, settings: chosen?.settings, nickname: chosen?.nickname, mode: mode, dials: dials)
        // The engine knows the trigger mode before the change is announced, because clients that watch are shown the engine's.
        if let mode { advanceRules(.requested(.setTriggerMode(button, mode)), at: now) }
        announce(change, at: now)
        if let chosen { requestFromFlicd(chosen.settings, of: change, at: now) }
        let answer = RequestAnswer.ok(buttons[button].map(describe) ?? .null)
        if let wanted = options.first(where: { $0.name == ButtonOption.nickname.rawValue })?.value.stringValue,
            let stored = chosen?.nickname, stored != wanted
        {
            return answer.withNote("a button stores at most 23 bytes of a nickname: it is \"\(stored)\" now")
        }
        guard isOfSite(button) else { return answer }
        return answer.withNote(
            "the trigger mode applies to this engine only; its site and other engines have their own")
    }

    private mutating func setConnectionWanted(
        _ isWanted: Bool, _ button: ButtonID, at now: Instant
    ) -> RequestAnswer {
        if let settings = settings(of: button, after: [.setConnectionWanted(isWanted)], at: now)?.settings,
            let change = buttons.connectionChosen(button, settings)
        {
            announce(change, at: now)
            requestFromFlicd(settings, of: change, at: now)
        }
        return named(button)
    }

    /// Has a button of the own adapter do what the requests say.
    ///
    /// - Returns: the settings that result, also those of a button of a flicd; `nil` without requests. The nickname is `nil` for
    ///   a button of a flicd, which has no command for it.
    private mutating func settings(
        of button: ButtonID, after requests: [ButtonRequest], at now: Instant
    ) -> (settings: ButtonSettings, nickname: String?)? {
        guard !requests.isEmpty, let record = buttons[button] else { return nil }
        guard record.source == nil else {
            return (requests.reduce(into: record.settings) { $0.apply($1) }, nil)
        }
        var known: KnownButton?
        for request in requests {
            advanceButtons(.request(button, request), at: now)
            // A recording contains an answer for each request.
            known = buttonSource.knownButton(button) ?? known
        }
        return known.map { ($0.settings, $0.identity.nickname) }
    }

    // MARK: A button's own topics

    mutating func buttonMessageReceived(
        _ request: ButtonTopicRequest, _ topicName: String, _ payload: [UInt8], at now: Instant
    ) {
        let id =
            switch request {
            case .get(let id), .set(let id): id
            }
        guard let button = buttons.keys.first(where: { $0.description == id }) else {
            return log(.unknownButton, .warning, "\(topicName): there is no such button", at: now)
        }
        switch request {
        case .get:
            // The status that is published after the delay contains the signal strength that is measured now.
            advanceButtons(.request(button, .measureSignal), at: now)
            return invalidateDebounced(.status(button), at: now)
        case .set:
            let answer: RequestAnswer
            do throws(JSONError) {
                let options = try JSONValue(parsing: payload)
                answer =
                    options.objectValue.map { !$0.isEmpty } ?? false
                    ? setButtonOptions(button, ["options": options], at: now)
                    : refuseSettings("the payload has no settings", of: button)
            } catch {
                answer = refuseSettings("the payload is not JSON (\(error))", of: button)
            }
            if case .error(let sentence) = answer {
                log(.badSettings, .warning, "\(topicName): \(sentence)", at: now)
                publishRefusal(sentence, of: topicName)
            }
        }
    }

    private mutating func refuseSettings(_ reason: String, of button: ButtonID) -> RequestAnswer {
        // A select in Home Assistant shows the state again after a refusal.
        invalidate(.status(button))
        return .error(#"\#(reason); /set takes settings such as {"trigger_mode": "click"}"#)
    }

    // MARK: Reset

    private mutating func factoryReset(_ button: ButtonID, _ data: JSONValue, at now: Instant) -> RequestAnswer {
        guard data["confirm"]?.boolValue == true else {
            return .error(
                #"button/factory_reset needs "confirm": true; the reset deletes all pairings on the button"#)
        }
        guard buttons[button]?.state == .ready else {
            return .error("the button must be ready to be reset; press it, then try again")
        }
        let answer = named(button)
        log(.info, "\(label(of: button)) is being reset to factory settings")
        advanceButtons(.request(button, .factoryReset), at: now)
        return answer
    }
}

extension String {
    fileprivate var withoutOuterBlanks: String {
        let rest = drop(while: \.isWhitespace)
        return String(rest.prefix(rest.count - rest.reversed().prefix(while: \.isWhitespace).count))
    }
}

extension Unicode.Scalar {
    /// True for characters that are neither blanks nor control or format characters.
    fileprivate var isVisible: Bool {
        !properties.isWhitespace && ![.control, .format].contains(properties.generalCategory)
    }
}

/// An option in a `button/options` request. The raw value is its name.
private enum ButtonOption: String, CaseIterable {
    case triggerMode = "trigger_mode"
    case nickname
    case latencyMode = "latency_mode"
    case autoDisconnectTime = "auto_disconnect_time"
    case ledMode = "led_mode"
    case positions
}

extension FlicModel {
    fileprivate var options: [ButtonOption] {
        ButtonOption.allCases.filter { option in
            switch option {
            case .triggerMode, .nickname: true
            case .latencyMode, .autoDisconnectTime: hasConnectionSettings
            case .ledMode: hasLEDMode
            case .positions: !dials.isEmpty
            }
        }
    }
}

extension DialPosition {
    /// `nil` if a member is not a dial of the model, or its value is not a position.
    fileprivate static func all(in value: JSONValue, of model: FlicModel) -> [DialPosition]? {
        guard let members = value.objectValue, !members.isEmpty else { return nil }
        let dials = Dial.all(of: model)
        let positions = members.compactMap { member -> DialPosition? in
            guard let dial = dials.first(where: { $0.name == member.name }), let percentage = member.value.percentage
            else { return nil }
            return DialPosition(dial, percentage: percentage)
        }
        return positions.count == members.count ? positions : nil
    }
}

extension JSONValue {
    /// A number from 0 to 100, rounded to a whole one, because automations calculate positions with fractions; `nil` for
    /// other values.
    fileprivate var percentage: Int? {
        switch self {
        case .integer(let value): (0...100).contains(value) ? Int(value) : nil
        case .number(let value): (0...100).contains(value) ? Int(value.rounded()) : nil
        case .null, .bool, .string, .array, .object: nil
        }
    }
}

extension ButtonRequestName {
    /// Why a button of a flicd or of a site does not take this request; `nil` if it does.
    ///
    /// - Parameter isSite: false for a flicd.
    func refusal(_ source: String, isSite: Bool) -> String? {
        isSite ? refusal(ofSite: source) : refusal(ofFlicd: source)
    }

    private func refusal(ofSite source: String) -> String? {
        let what: String
        switch self {
        // A site may be gone for good, so a button of one that is not connected can be removed.
        case .describe, .remove, .rename, .options, .led: return nil
        case .connect: what = "connect it"
        case .disconnect: what = "disconnect it"
        case .update, .cancelUpdate: what = "update its firmware"
        case .factoryReset: what = "reset it"
        }
        return "the button belongs to \(source); \(what) at that site"
    }

    private func refusal(ofFlicd source: String) -> String? {
        let what: String
        switch self {
        case .describe, .remove, .rename, .options, .connect, .disconnect: return nil
        case .led: what = "control its light"
        case .update, .cancelUpdate: what = "update its firmware"
        case .factoryReset: what = "reset it"
        }
        return "the button belongs to \(source), which cannot \(what)"
    }

    var privilege: Privilege {
        switch self {
        case .remove, .rename, .options, .connect, .disconnect, .led, .update, .cancelUpdate: .settings
        // Over MQTT, a button's status topic has the content of the answer to `button`. A reset cannot be undone.
        case .describe, .factoryReset: .owner
        }
    }
}
