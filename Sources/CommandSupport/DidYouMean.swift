import Expressions

/// The question after a name that does not exist.
package enum DidYouMean {
    /// A sentence with a blank before it, such as ` Did you mean "kitchen"?`; empty if no name is near.
    package static func sentence(_ name: String, among names: some Sequence<String>) -> String {
        Suggestions.nearest(to: name, among: names).map { " Did you mean \"\($0)\"?" } ?? ""
    }
}
