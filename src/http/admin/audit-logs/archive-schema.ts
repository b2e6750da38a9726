import Type, { type Static } from 'typebox'
import { archiveTargets } from '../../../domain/audit/archive/target.ts'
import { integer, text } from '../../described.ts'
import { unixTime } from '../../resources/fields.ts'
import { listOf, listQuery, pageExample } from '../../resources/list.ts'

export const ArchiveQuery = listQuery({})

const example = {
  id: 'aarc_01k9z8y7x6w5v4t3s2r1q0p9n8',
  object: 'organization.audit_log.archived_object',
  day: '2026-01-01',
  first_sequence: 1,
  last_sequence: 4_711,
  count: 4_711,
  target: 'folder',
  name: 'org_01k9z8y7x6w5v4t3s2r1q0p9n8/2026/01/01/000000000001-000000004711.ndjson.zst',
  bytes: 498_212,
  sha256: '9f2c'.repeat(16),
  written_at: 1_782_864_000,
}

export const ArchivedObjectObject = Type.Object(
  {
    id: text('The id of the object.'),
    object: Type.Literal('organization.audit_log.archived_object'),
    day: Type.String({ description: 'The day in UTC on which its events were signed, such as `2026-01-01`.' }),
    first_sequence: integer('The sequence of its first event.'),
    last_sequence: integer('The sequence of its last event.'),
    count: integer('Its number of events.'),
    target: Type.Enum([...archiveTargets], { description: 'Whether it is in a folder or in an S3 bucket.' }),
    name: text('Its name in the folder or bucket. Its manifest is beside it.'),
    bytes: integer('Its compressed size.'),
    sha256: text('SHA-256 of the compressed object.'),
    written_at: unixTime('When it was written.'),
  },
  { title: 'ArchivedObject', examples: [example] },
)

export const ArchivedObjectList = listOf('ArchivedObjectList', ArchivedObjectObject, pageExample(example))

export type ArchivedObjectBody = Static<typeof ArchivedObjectObject>
