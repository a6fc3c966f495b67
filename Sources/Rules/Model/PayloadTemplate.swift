package import Expressions
package import JSON

/// The payload of a message, or the body of a request.
package enum PayloadTemplate: Hashable, Sendable {
    case nothing
    case text(Template)
    case json(JSONTemplate)
}

/// JSON whose leaves may be templates, each of which keeps the type of its value.
package indirect enum JSONTemplate: Hashable, Sendable {
    case value(JSONValue)
    case template(Template)
    case array([JSONTemplate])
    case object([Member])

    package struct Member: Hashable, Sendable {
        package var name: String
        package var value: JSONTemplate

        package init(_ name: String, _ value: JSONTemplate) {
            self.name = name
            self.value = value
        }
    }
}

extension PayloadTemplate {
    func forEachTemplate(_ body: (Template) -> Void) {
        switch self {
        case .nothing: break
        case .text(let template): body(template)
        case .json(let template): template.forEachTemplate(body)
        }
    }
}

extension JSONTemplate {
    func forEachTemplate(_ body: (Template) -> Void) {
        switch self {
        case .value: break
        case .template(let template): body(template)
        case .array(let elements): for element in elements { element.forEachTemplate(body) }
        case .object(let members): for member in members { member.value.forEachTemplate(body) }
        }
    }
}
