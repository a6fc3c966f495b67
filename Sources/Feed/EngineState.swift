import ButtonModel
import JSON

/// The payload of an engine's retained topic `ENGINE/state`, which describes the engine. A leader publishes it again
/// and again, and the will of its connection says that it is offline.
package struct EngineState: Hashable, Sendable {
    static let maximumLength = 1024

    package var isOnline: Bool
    /// The engine's name, at most 64 octets.
    package var engine: String
    /// The engine's installation, at most 64 octets; empty if the engine does not say it.
    package var installation: String
    /// The share of the sites, such as `1 of 4`.
    package var share: EngineShare
    /// How long the engine may be silent before another one leads. A standard one is not in the payload.
    package var patience: EnginePatience
    /// The fingerprint of the engine's rules, at most 64 octets; empty if it is offline.
    package var rules: String
    /// The number of the publication (`EngineTerm.numberName`); 0 if it is not said, as in a will and by engines of earlier versions.
    package var number: Int

    var owner: EngineTerm.Owner { .init(engine: engine, installation: installation) }

    package init(
        isOnline: Bool, engine: String, installation: String = "", share: EngineShare,
        patience: EnginePatience = .standard, rules: String = "", number: Int = 0
    ) {
        self.isOnline = isOnline
        self.engine = engine
        self.installation = installation
        self.share = share
        self.patience = patience
        self.rules = rules
        self.number = number
    }

    package init(parsing octets: [UInt8]) throws(FeedPayloadFailure) {
        let fields = try FeedFields(parsing: octets, maximumLength: Self.maximumLength)
        let patience = try fields.optionalNumber("patience_ms").map { EnginePatience(.milliseconds($0)) }
        let isOnline: Bool = try fields.word("state") { ["online": true, "offline": false][$0] }
        self.init(
            isOnline: isOnline, engine: try fields.text("engine"),
            installation: try fields.optionalText("installation"),
            share: try fields.word("share", EngineShare.init), patience: patience ?? .standard,
            rules: try fields.optionalText("rules"), number: try fields.optionalNumber(EngineTerm.numberName) ?? 0)
    }

    package func encoded() -> [UInt8] {
        var state = FeedMembers()
        state.add("state", isOnline ? "online" : "offline")
        state.add("engine", engine)
        if !installation.isEmpty { state.add("installation", installation) }
        state.add("share", share.description)
        if patience != .standard { state.add("patience_ms", Int(patience.limit.milliseconds)) }
        if !rules.isEmpty { state.add("rules", rules) }
        if number > 0 { state.add(EngineTerm.numberName, number) }
        return state.encoded()
    }
}
