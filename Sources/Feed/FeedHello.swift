package import ButtonModel
package import JSON

/// The payload of a site's retained topic `S/feed/hello`, which describes the site and its buttons. The will of the
/// site's connection clears the topic.
package struct FeedHello: Hashable, Sendable {
    package struct Button: Hashable, Sendable {
        package var serial: String
        package var model: FlicModel
        package var name: String
        /// The firmware's version number.
        package var firmware: UInt32
        /// The battery's charge in percent; `nil` before it was measured.
        package var battery: Int?
        /// The number of the last message in the journal; 0: there was none.
        package var last: Int
        /// The number up to which messages are claimed, as far as the site knows.
        package var claimed: Int
        /// The number up to which everything is done, as far as the site knows; at most `claimed`.
        package var done: Int
        /// The messages of earlier lives that may be unclaimed; `nil` if all of them are claimed.
        package var former: FeedFormer?

        /// - Parameter name: cut to 64 octets between characters.
        package init(
            serial: String, model: FlicModel, name: String, firmware: UInt32, battery: Int? = nil, last: Int = 0,
            claimed: Int = 0, done: Int = 0, former: FeedFormer? = nil
        ) {
            self.serial = serial
            self.model = model
            self.name = name
            while self.name.utf8.count > FeedFields.maximumTextLength { self.name.removeLast() }
            self.firmware = firmware
            self.battery = battery
            self.last = last
            self.claimed = claimed
            self.done = done
            self.former = former
        }
    }

    /// The only version of the feed.
    package static let version = 1
    /// The maximum number of buttons of a site.
    package static let maximumButtons = 256
    package static let maximumLength = 128 * 1024

    /// The site's name, at most 64 octets.
    package var site: String
    /// The site's installation. The numbers of another installation mean other messages.
    package var installation: String
    /// Grows with each connection of the site.
    package var session: Int
    /// The highest term that the site has heard of; it ignores claims of a lower one.
    package var term: Int
    package var buttons: [ButtonID: Button]

    package init(site: String, installation: String, session: Int, term: Int = 0, buttons: [ButtonID: Button] = [:]) {
        self.site = site
        self.installation = installation
        self.session = session
        self.term = term
        self.buttons = buttons
    }

    package init(parsing octets: [UInt8]) throws(FeedPayloadFailure) {
        let fields = try FeedFields(parsing: octets, maximumLength: Self.maximumLength)
        let version = try fields.number("v")
        guard version == Self.version else { throw .unsupportedVersion(version) }
        guard let members = fields.value["buttons"] else { throw .missing("buttons") }
        guard let members = members.objectValue else { throw .invalid("buttons") }
        guard members.count <= Self.maximumButtons else { throw .tooMany("buttons") }
        self.init(
            site: try fields.text("site"), installation: try fields.text("installation"),
            session: try fields.number("session"), term: try fields.optionalNumber("term") ?? 0)
        for member in members {
            guard let button = ButtonID(member.name) else { throw .invalid("buttons") }
            buttons[button] = try Button(FeedFields(member.value))
        }
    }

    package func encoded() -> [UInt8] {
        var hello = FeedMembers()
        hello.add("v", Self.version)
        hello.add("site", site)
        hello.add("installation", installation)
        hello.add("session", session)
        hello.add("term", term)
        let sorted = buttons.sorted { $0.key < $1.key }
        hello.add("buttons", .object(sorted.map { .init($0.key.description, $0.value.json) }))
        return hello.encoded()
    }
}

extension FeedHello.Button {
    fileprivate init(_ fields: FeedFields) throws(FeedPayloadFailure) {
        self.init(
            serial: try fields.text("serial"), model: try fields.word("model", FlicModel.init(rawValue:)),
            name: try fields.text("name"), firmware: UInt32(try fields.number("firmware", in: 0...Int(UInt32.max))),
            battery: try fields.optionalNumber("battery", in: 0...100), last: try fields.number("n"),
            claimed: try fields.number("claimed"),
            done: try fields.optionalNumber("done") ?? 0)
        guard claimed <= last else { throw .invalid("claimed") }
        guard done <= claimed else { throw .invalid("done") }
        guard let member = fields.value["former"] else { return }
        former = try FeedFormer(FeedFields(member), upTo: last)
    }

    fileprivate var json: JSONValue {
        var button = FeedMembers()
        button.add("serial", serial)
        button.add("model", model.rawValue)
        button.add("name", name)
        button.add("firmware", Int(firmware))
        if let battery { button.add("battery", battery) }
        button.add("n", last)
        button.add("claimed", claimed)
        button.add("done", done)
        if let former { button.add("former", former.json) }
        return button.json
    }
}

extension FeedFormer {
    /// - Parameter greatest: the number of the last message in the journal.
    package init(_ json: JSONValue, upTo greatest: Int) throws(FeedPayloadFailure) {
        try self.init(FeedFields(json), upTo: greatest)
    }

    fileprivate init(_ fields: FeedFields, upTo greatest: Int) throws(FeedPayloadFailure) {
        let last = try fields.number("n", in: 0...greatest)
        self.init(
            last: last, certain: try fields.number("certain", in: 0...last), session: try fields.number("session"))
    }

    package var json: JSONValue {
        var former = FeedMembers()
        former.add("n", last)
        former.add("certain", certain)
        former.add("session", session)
        return former.json
    }
}
