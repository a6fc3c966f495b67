/// How to mend a mistake: a sentence, and the changes of the text that the sentence describes.
///
/// A sentence and its changes are written in the same place, so that they agree, and so that editors need not parse sentences. A
/// hint that is written as a string literal has no changes, because only the user knows what to write.
package struct Hint: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// Another text for a part of the text. Of several changes of a hint, one is enough.
    package struct Change: Hashable, Sendable {
        /// The octets to replace, in the text with the mistake; `nil`: what the message is about.
        package var place: Range<Int>?
        package var text: String
        /// True if the place or the text may be wrong, because the text with the mistake can be read in several ways. Of several
        /// guesses, the first one that removes the mistake counts.
        package var isGuess: Bool

        package init(_ place: Range<Int>?, _ text: String, isGuess: Bool = false) {
            self.place = place
            self.text = text
            self.isGuess = isGuess
        }
    }

    /// `nil` if the message says itself what to write.
    package var sentence: String?
    package var changes: [Change]

    package init(_ sentence: String?, _ changes: [Change] = []) {
        self.sentence = sentence
        self.changes = changes
    }

    package init(stringLiteral sentence: String) { self.init(sentence) }

    /// A hint to write other texts in place of the mistake, one of which is to be chosen.
    package init(_ sentence: String?, replacing texts: String...) {
        self.init(sentence, texts.map { Change(nil, $0) })
    }

    /// `did you mean "kitchen"?`
    package static func meant(_ name: String) -> Hint { Hint("did you mean \"\(name)\"?", replacing: name) }

    /// `did you mean restart?`, for one of the words that are listed in the message.
    package static func meantWord(_ word: String) -> Hint { Hint("did you mean \(word)?", replacing: word) }

    /// `write true`
    package static func write(_ text: String) -> Hint { Hint("write \(text)", replacing: text) }

    /// What to write in place of `{% … %}`.
    package static let statements: Hint = "use if/then/else steps or a if b else c"

    /// `use hold`
    package static func use(_ text: String) -> Hint { Hint("use \(text)", replacing: text) }
}
