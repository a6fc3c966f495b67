import Expressions
import Testing

/// The tables of functions and fields, which the checker, the reference and completion share.
@Suite("Tables of the expression language")
struct LanguageTableTests {
    @Test("every function is described by one line and has the parameters its page lists")
    func functions() {
        let usages = Function.allCases.map(\.usage)
        #expect(
            usages == [
                "known(x)", "default(x, d)", "integer(x, d)", "number(x, d)", "string(x)", "round(x, n)", "floor(x)",
                "ceil(x)", "abs(x)", "min(a, b, …)", "max(a, b, …)", "clamp(x, low, high)", "lower(s)", "upper(s)",
                "trim(s)", "replace(s, a, b)", "slice(s, from, length)", "length(s)", "contains(s, t)",
                "starts_with(s, t)", "ends_with(s, t)", "like(s, p)", "next(list, x)", "seconds(d)", "milliseconds(d)",
                "minutes_since(time)", "json(x)", "json_get(s, pointer)", "url(s)", "in_time(after, before)",
                "random(a, b)",
            ])
        for function in Function.allCases {
            #expect(LanguageTableTests.isOneLine(function.description.summary), "\(function)")
        }
    }

    @Test(
        "every function takes as many arguments as its table says, and refuses fewer and more",
        arguments: Function.allCases)
    func counts(function: Function) {
        let description = function.description
        let least = description.parameters.count(where: \.isRequired)
        func problems(_ count: Int) -> String {
            House.problems("\(function.rawValue)(\(Array(repeating: "1", count: count).joined(separator: ", ")))")
        }
        #expect(problems(least - 1).hasPrefix("E404 ") && problems(0).hasPrefix("E404 "))
        if !description.isVariadic {
            #expect(problems(description.parameters.count + 1).contains("\(function.rawValue) takes"))
        }
    }

    @Test("every field of every root can be read and has the type of its table", arguments: Root.allCases)
    func fields(root: Root) throws {
        #expect(LanguageTableTests.isOneLine(root.summary))
        let scope = House.wholeScope
        switch root.shape {
        case .fields(let fields):
            #expect(!fields.isEmpty)
            for field in fields { try expect("\(root.rawValue).\(field.name)", field) }
        case .declaredWithFields(let fields):
            #expect(!fields.isEmpty)
            let name = try #require(scope.names(of: root).first)
            for field in fields {
                let isOfWaitFor = root == .results && ["happened", "event", "button", "id"].contains(field.name)
                try expect("\(root.rawValue).\(isOfWaitFor ? "second" : name).\(field.name)", field)
            }
        case .declared:
            for name in scope.names(of: root) {
                #expect(House.problems("\(root.rawValue).\(name)", in: scope) == "none")
            }
        }
    }

    private func expect(_ text: String, _ field: FieldDescription) throws {
        let expression = try Expression(compiling: text, in: House.wholeScope)
        #expect(expression.type == field.type)
        #expect(expression.reads.count == 1)
        #expect(LanguageTableTests.isOneLine(field.summary), "\(text)")
        #expect(try expression.evaluate(in: House.environment).fits(field.type), "\(text)")
        #expect(try expression.evaluate(in: EvaluationContext()).fits(field.type.optional), "\(text)")
    }

    @Test("a declared variable is read from its own slot")
    func slots() throws {
        for name in House.wholeScope.names(of: .variables) {
            let expression = try Expression(compiling: "variables.\(name)", in: House.wholeScope)
            let slot = try #require(House.wholeScope.variables[name]?.slot)
            #expect(expression.reads == [.variable(slot)])
            #expect(try expression.evaluate(in: House.environment) == House.environment.variables[slot])
        }
    }

    private static func isOneLine(_ summary: String) -> Bool {
        !summary.isEmpty && !summary.contains("\n") && summary.count <= 90 && !summary.hasSuffix(".")
    }
}
