import type { Static } from 'typebox'
import { toUnixSeconds } from '../../../base/clock.ts'
import type { ArchivedObject, ArchiveStore } from '../../../domain/audit/archive/archived-object.ts'
import { none } from '../../resources/fields.ts'
import { pageOf, presentList } from '../../resources/list.ts'
import type { Route } from '../../route.ts'
import type { AdminReads } from '../routes.ts'
import * as Schema from './archive-schema.ts'

/** `/v1/organization/audit_logs/archive`: what was archived before retention removed it. */
export const archiveRoutes = ({ read }: AdminReads<{ readonly archive: ArchiveStore }>): Route[] => [
  read({
    name: 'listArchivedEvents',
    path: '/v1/organization/audit_logs/archive',
    summary: 'List the archive of the audit log',
    description:
      'Objects with events that the log no longer keeps, by the sequence of their events. Empty if the server has no archive (`audit.archive`).',
    permission: 'audit:read',
    params: none,
    query: Schema.ArchiveQuery,
    answer: { description: 'A page of objects.', schema: Schema.ArchivedObjectList },
    operation: async ({ archive }, { actor, query }) =>
      presentList(await archive.list(actor.organization.id, pageOf(query)), presentObject),
  }),
]

const presentObject = (object: ArchivedObject): Static<typeof Schema.ArchivedObjectObject> => ({
  id: object.id,
  object: 'organization.audit_log.archived_object',
  day: object.day,
  first_sequence: object.first,
  last_sequence: object.last,
  count: object.last - object.first + 1,
  target: object.target,
  name: object.name,
  bytes: object.bytes,
  sha256: object.sha256,
  written_at: toUnixSeconds(object.writtenAtMs),
})
