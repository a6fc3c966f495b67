/// What the announcement of a device says of its entities. New entity ids take two announcements, because Home Assistant gives an
/// entity its id only when it first sees the entity: one that removes the entities, and one that names them.
package enum EntityAnnouncement: Hashable, Sendable {
    /// The entities. Home Assistant keeps the ids that they have.
    case usual
    /// The entities are removed. Device triggers stay, because without them Home Assistant would remove the device, too.
    case removed
    /// The entities with ids made of the device's name, `default_entity_id`. Without them, Home Assistant from 2025.7 on gives a
    /// removed entity the id that it had.
    case named
}
