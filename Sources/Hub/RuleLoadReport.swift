package import JSON
package import Rules

/// The end of a load of the rule files: the new set, or why there is none.
package struct RuleLoadReport: Hashable, Sendable {
    /// The new set, prepared by the edge that read it; `nil` if there are errors or a test failed, so that the old set stays.
    package var rules: PreparedRules?
    /// The files of the new set, for a recording; `nil` if there is no new set.
    package var source: RecordedRules?
    /// Errors and warnings, with the members `code`, `severity`, `file`, `line`, `column`, `message` and `hint`.
    package var problems: [JSONValue]
    /// The first error in one line: `rules/home.yaml:14:15: unknown button "kitchn"`.
    package var summary: String
    /// The fingerprint of a set without errors if one of its tests failed.
    package var failing: String?
    /// The values of `!secret` and `!env_var` of a set that is not put into use. They are hidden like those of the set that runs,
    /// because they may be those that the house uses now. A recording does not have them.
    package var refusedValues: ConfidentialValues

    package init(
        set: RuleSet?, source: RecordedRules? = nil, problems: [JSONValue] = [], summary: String = "",
        failing: String? = nil, refusedValues: ConfidentialValues = ConfidentialValues()
    ) {
        rules = set.map { PreparedRules($0) }
        self.source = source
        self.problems = problems
        self.summary = summary
        self.failing = failing
        self.refusedValues = refusedValues
    }
}

extension RuleLoadReport {
    package var set: RuleSet? {
        get { rules?.set }
        set { rules = newValue.map { PreparedRules($0) } }
    }
}
