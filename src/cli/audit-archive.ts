import type { ArchivedObjectBody } from '../http/admin/audit-logs/archive-schema.ts'
import type { ArchiveReport } from '../app/audit-verification.ts'
import { plural } from '../base/plural.ts'
import type { CommandContext } from './command.ts'
import { runOnServer } from './run-on-server.ts'
import { dateOf, table } from './table.ts'

/** `gatehouse audit archive`: what was archived, oldest first. */
export function listArchive(
  context: CommandContext,
  values: { readonly json?: boolean | undefined; readonly org?: string | undefined },
): Promise<number> {
  return runOnServer(context, values, async ({ client }) => {
    const response = await client.list<ArchivedObjectBody>('/v1/organization/audit_logs/archive')
    const rows = response.data.map((object) => [
      object.day,
      String(object.first_sequence),
      String(object.last_sequence),
      String(object.bytes),
      dateOf(object.written_at),
      object.target,
      object.name,
    ])
    return { json: response, text: table(['DAY', 'FIRST', 'LAST', 'BYTES', 'WRITTEN', 'TARGET', 'NAME'], rows) }
  })
}

const findingTexts: Readonly<Record<ArchiveReport['findings'][number]['reason'], string>> = {
  no_manifest: 'has no manifest',
  invalid_manifest: 'has a manifest that cannot be read',
  unknown_key: 'has a manifest that was signed with a key that is not trusted',
  bad_signature: 'has a manifest with an invalid signature',
  misnamed: 'has the manifest of another object',
  no_events: 'has a manifest, but its events are missing',
  altered: 'was altered; it is not the file that its manifest was signed for',
  removed: 'was written by the service and is missing',
  gap: 'follows a gap: events before it are missing',
  overlap: 'has events that the object before it has as well',
  unlinked: 'was signed after another object than the one before it',
  log_gap: 'is the last one, and the log begins later: the events between are in neither',
  log_unlinked: 'is the last one, and the log does not continue from its last event',
}

const mostLines = 20

/** What a verification found in an archive. */
export function archiveLines({ path, objects, findings }: ArchiveReport): string[] {
  if (objects === 0 && findings.length === 0) return [`Archive ${path}: it has no events of this organization.`]
  if (findings.length === 0)
    return [
      `Archive ${path}: ${plural(objects, 'object')} match their signed manifests, and the log continues from them.`,
    ]
  const lines = findings
    .slice(0, mostLines)
    .map(({ name, reason }) => `The archive is not whole: ${name} ${findingTexts[reason]}.`)
  return findings.length > mostLines ? [...lines, `And ${findings.length - mostLines} more.`] : lines
}
