extension Configuration {
    /// A part of the sites, such as the first of four.
    package struct Share: Hashable, Sendable {
        package static let maximumCount = 1024

        /// 1…`count`.
        package var index: Int
        /// 1…`maximumCount`.
        package var count: Int

        /// Parses `1 of 4`.
        package init?(_ text: String) {
            let words = text.split(separator: " ")
            guard words.count == 3, words[1] == "of", let index = Int(words[0]), let count = Int(words[2]),
                (1...Self.maximumCount).contains(count), (1...count).contains(index)
            else { return nil }
            self.index = index
            self.count = count
        }

        /// The share as it is written in `tryck.yaml`.
        package var text: String { "\(index) of \(count)" }
    }

    /// The maximum number of entries of `sites`.
    package static let maximumSites = 1024
    /// The maximum length of an engine's name in octets.
    package static let maximumEngineName = 64
    /// The maximum length of a site's base topic in octets.
    private static let maximumSiteLength = 128

    /// True if the text is a valid base topic of sites. A level may be the wildcard `+`.
    package static func isSite(_ topic: String) -> Bool {
        (1...maximumSiteLength).contains(topic.utf8.count)
            && topic.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "#") }
            && topic.split(separator: "/", omittingEmptySubsequences: false).allSatisfy {
                !$0.isEmpty && ($0 == "+" || !$0.utf8.contains(UInt8(ascii: "+")))
            }
    }
}
