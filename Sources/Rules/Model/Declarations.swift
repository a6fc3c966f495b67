package import Expressions

/// A topic whose last value rules may read.
package struct DeclaredState: Hashable, Sendable {
    package var name: String
    package var topicName: String
    /// A JSON Pointer into the payload; empty for the whole payload.
    package var pointer: String
    package var type: ExpressionType.Scalar
    /// In place of what is unknown.
    package var fallback: Value?
    /// After this long without a message the value is unknown again.
    package var maximumAge: Duration?
    package var place: Place

    package init(
        name: String, topicName: String, pointer: String = "", type: ExpressionType.Scalar = .string,
        fallback: Value? = nil, maximumAge: Duration? = nil, place: Place = Place()
    ) {
        self.name = name
        self.topicName = topicName
        self.pointer = pointer
        self.type = type
        self.fallback = fallback
        self.maximumAge = maximumAge
        self.place = place
    }
}

/// A value that rules may read and write.
package struct DeclaredVariable: Hashable, Sendable {
    package var name: String
    package var type: ExpressionType.Scalar
    package var initial: Value
    /// What it may hold, in order; empty: anything.
    package var values: [Value]
    /// `set` clamps to them; numbers only.
    package var minimum, maximum: Double?
    package var isPersisted: Bool
    package var place: Place

    package init(
        name: String, type: ExpressionType.Scalar, initial: Value, values: [Value] = [], minimum: Double? = nil,
        maximum: Double? = nil, isPersisted: Bool = true, place: Place = Place()
    ) {
        self.name = name
        self.type = type
        self.initial = initial
        self.values = values
        self.minimum = minimum
        self.maximum = maximum
        self.isPersisted = isPersisted
        self.place = place
    }
}

/// Steps with a name, and with inputs.
package struct Script: Hashable, Sendable {
    package struct Input: Hashable, Sendable {
        package var name: String
        package var type: ExpressionType.Scalar
        /// `nil`: whoever calls gives it.
        package var fallback: Value?

        package init(name: String, type: ExpressionType.Scalar, fallback: Value? = nil) {
            self.name = name
            self.type = type
            self.fallback = fallback
        }
    }

    package var name: String
    package var inputs: [Input]
    package var steps: [Step]
    /// How many results its own steps save; their slots begin at 0 in the script.
    package var resultCount: Int
    package var place: Place

    package init(
        name: String, inputs: [Input] = [], steps: [Step] = [], resultCount: Int = 0, place: Place = Place()
    ) {
        self.name = name
        self.inputs = inputs
        self.steps = steps
        self.resultCount = resultCount
        self.place = place
    }
}
