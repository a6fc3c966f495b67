/// How the announcement of a device contains its entities. Home Assistant gives an entity its id only when it first sees the
/// entity, so new ids take two announcements: `removed`, and then `named`.
package enum EntityAnnouncement: Hashable, Sendable {
    /// The entities are announced without ids. Home Assistant keeps the ids that they have.
    case usual
    /// The entities are removed. Device triggers stay, because without them Home Assistant would remove the device, too.
    case removed
    /// The entities are announced with ids made of the device's name (`default_entity_id`). Without `default_entity_id`,
    /// Home Assistant from 2025.7 on gives a removed entity its former id again.
    case named
}
