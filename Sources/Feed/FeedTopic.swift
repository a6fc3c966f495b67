package import ButtonModel

/// A topic of the feed of one site: its place below the site's base topic.
///
/// | topic             | published by | retained |
/// |-------------------|--------------|----------|
/// | `S/feed/hello`    | site         | yes      |
/// | `S/feed/ID`       | site         | no       |
/// | `S/feed/ID/cursor`| engine       | yes      |
/// | `S/feed/ID/done`  | engine       | yes      |
/// | `S/feed/ID/want`  | engine       | no       |
package struct FeedTopic: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        case hello
        case messages(ButtonID)
        case cursor(ButtonID)
        case done(ButtonID)
        case want(ButtonID)
    }

    /// The maximum length of a site's base topic in octets.
    package static let maximumBaseLength = 128
    private static let level = "/feed/"

    /// The site's base topic, such as `tryck/berlin7`. It identifies the site for an engine.
    package var site: String
    package var kind: Kind

    package init(_ site: String, _ kind: Kind) {
        self.site = site
        self.kind = kind
    }

    /// `nil` for all other topics, and for a base topic that is empty, too long, or has wildcards or control characters.
    package init?(_ name: String) {
        let levels = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        // The level `feed` is the last of this name, because no level after it can have the name.
        guard let place = levels.lastIndex(where: { $0.elementsEqual("feed".utf8) }), place > 0 else { return nil }
        let site = name.utf8[..<levels[place - 1].endIndex]
        let isSite = site.allSatisfy { octet in
            octet >= 0x20 && octet != 0x7F && octet != UInt8(ascii: "+") && octet != UInt8(ascii: "#")
        }
        guard isSite, (1...Self.maximumBaseLength).contains(site.count) else { return nil }
        let rest = levels[(place + 1)...].map { Substring($0) }
        let kind: Kind? =
            switch rest.count {
            case 1: rest[0] == "hello" ? .hello : ButtonID(rest[0]).map(Kind.messages)
            case 2: ButtonID(rest[0]).flatMap { Self.kind(rest[1], of: $0) }
            default: nil
            }
        guard let kind else { return nil }
        self.init(String(Substring(site)), kind)
    }

    private static func kind(_ level: Substring, of button: ButtonID) -> Kind? {
        switch level {
        case "cursor": .cursor(button)
        case "done": .done(button)
        case "want": .want(button)
        default: nil
        }
    }

    /// The button that the topic is about; `nil` for a hello.
    var button: ButtonID? {
        switch kind {
        case .hello: nil
        case .messages(let button), .cursor(let button), .done(let button), .want(let button): button
        }
    }

    package var description: String {
        let place =
            switch kind {
            case .hello: "hello"
            case .messages(let button): "\(button)"
            case .cursor(let button): "\(button)/cursor"
            case .done(let button): "\(button)/done"
            case .want(let button): "\(button)/want"
            }
        return site + Self.level + place
    }

    /// The topic filters of a site: those topics of its own feed that engines publish, and its hello, which another program
    /// may clear.
    package static func filters(ofSite site: String) -> [String] {
        ["cursor", "done", "want"].map { "\(site)/feed/+/\($0)" } + [FeedTopic(site, .hello).description]
    }

    /// The topic filters of an engine for the feeds of its sites.
    ///
    /// - Parameter sites: a site's base topic, which may have the wildcard `+`: `tryck/+`.
    package static func filters(ofSites sites: String) -> [String] {
        [messageFilter(ofSites: sites)] + claimFilters(ofSites: sites)
    }

    /// The hello of each site, and the messages of its buttons.
    package static func messageFilter(ofSites sites: String) -> String { "\(sites)/feed/+" }

    /// The claims of engines, and what they have done.
    package static func claimFilters(ofSites sites: String) -> [String] {
        ["cursor", "done"].map { "\(sites)/feed/+/\($0)" }
    }
}
