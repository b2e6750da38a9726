import { isProven, type AgainstReport, type AuditVerification, type LogReportBody } from '../app/audit-verification.ts'
import { plural } from '../base/plural.ts'
import { archiveLines } from './audit-archive.ts'

/** The report as text, and as JSON with the field names of the API. */
export function describeVerification(verification: AuditVerification): {
  readonly text: string
  readonly json: object
} {
  const { report, against, archive } = verification
  const lines = [
    ...logLines(report),
    ...(against ? againstLines(against) : []),
    ...(archive ? archiveLines(archive) : []),
  ]
  return {
    text: lines.join('\n'),
    json: { ...report, whole: isProven(verification), ...(against && { against }), ...(archive && { archive }) },
  }
}

type SignedRange = NonNullable<LogReportBody['signed']>

const findingTexts: Readonly<Record<NonNullable<LogReportBody['finding']>['reason'], string>> = {
  altered: 'was altered; it does not match the fingerprint that it carries',
  texts_altered: 'has other stored texts than the ones it was written with',
  missing: 'is missing',
  misplaced: 'is at the position of another event',
  unlinked: 'does not follow from the event before it; one of the two was replaced',
  rewritten: 'is not the event that a checkpoint was signed for; the log was rewritten',
  cut: 'is missing, and so is every event after it; the end of the log was cut off',
}

const checkpointFindingTexts: Readonly<Record<NonNullable<LogReportBody['checkpoint_finding']>['reason'], string>> = {
  unknown_key: 'was signed with a key that is not trusted',
  bad_signature: 'has an invalid signature',
  unlinked: 'does not follow from the checkpoint before it',
}

const keySources: Readonly<Record<LogReportBody['key_source'], string>> = {
  server_secret: 'derived from the server secret',
  pinned: 'pinned in the file of --keys',
}

function logLines(report: LogReportBody): string[] {
  const { organization: subject, checked, first, end, checkpoints, finding } = report
  const { checkpoint_finding: checkpointFinding, unchecked_texts: uncheckedTexts } = report
  if (checked === 0 && !finding && !checkpointFinding) return [`${subject}: there was no event to check.`]
  const range = checked > 0 ? ` (${first} to ${end.sequence})` : ''
  const used = report.key_findings.filter(({ reason, from }) => reason === 'replaced' || from !== undefined)
  return [
    `${subject}: ${plural(checked, 'event')} ${checked === 1 ? 'is' : 'are'} linked without a gap${range}, ${plural(checkpoints, 'checkpoint')}.`,
    ...signedLines(report),
    ...(uncheckedTexts > 0
      ? [
          `The texts of ${plural(uncheckedTexts, 'event')} were written under another server secret: they were not checked.`,
        ]
      : []),
    ...(finding ? [`The log is not whole: event ${finding.sequence} ${findingTexts[finding.reason]}.`] : []),
    ...(checkpointFinding
      ? [
          `The log is not whole: the checkpoint of event ${checkpointFinding.sequence} ${checkpointFindingTexts[checkpointFinding.reason]}.`,
        ]
      : []),
    ...used.map(keyLine),
  ]
}

function signedLines(report: LogReportBody): string[] {
  const { first, signed, unsigned, finding, key_source: keySource, checkpoint_finding: checkpointFinding } = report
  // The line with the finding is enough for a log that is not whole.
  if (finding) return []
  const lines: string[] = []
  if (signed && signed.to >= first) {
    const at = new Date(signed.time).toISOString()
    // What was signed late may have been changed before, and so may everything that follows from it.
    const verb = report.late.some(({ accepted }) => !accepted) ? 'Signed' : 'Proven'
    lines.push(`${verb}: events ${first} to ${signed.to}, signed on ${at} with ${signersOf(signed, keySource)}.`)
  } else if (!checkpointFinding || checkpointFinding.reason === 'unknown_key') {
    lines.push(`Nothing is proven: no event was signed with a key ${keySources[keySource]}.`)
  }
  lines.push(...report.late.map(lateLine))
  if (!unsigned) return lines
  const { from, to, overdue } = unsigned
  const events = from === to ? `event ${from}` : `events ${from} to ${to}`
  lines.push(
    overdue
      ? `Not signed: ${events}, for longer than a running service takes. Checkpoints were removed, or no service ran: start it, wait a minute and verify again.`
      : `Not signed yet: ${events}.`,
  )
  return lines
}

function lateLine({ from, to, time, accepted }: LogReportBody['late'][number]): string {
  const events = from === to ? `event ${from}` : `events ${from} to ${to}`
  const start = `Signed late: ${events}, on ${new Date(time).toISOString()}`
  return accepted
    ? `${start}, accepted with --accept-late.`
    : `${start}, minutes after they were written. No service ran, or checkpoints were removed: nothing proves that they were not changed before. Compare them with exported events (--against). If you know why no service ran, accept it with --accept-late ${to}.`
}

function signersOf(signed: SignedRange, keySource: LogReportBody['key_source']): string {
  const { key_ids: keyIds, handover_key_ids: handoverKeyIds } = signed
  const own = keyIds.filter((id) => !handoverKeyIds.includes(id))
  return [
    ...(own.length > 0 ? [`${keysNamed(own)}, ${keySources[keySource]}`] : []),
    ...(handoverKeyIds.length > 0 ? [`${keysNamed(handoverKeyIds)}, trusted by handover`] : []),
  ].join(', and ')
}

const keysNamed = (ids: readonly string[]): string => `the ${ids.length === 1 ? 'key' : 'keys'} ${ids.join(', ')}`

function keyLine({ key_id: keyId, reason, from, to }: LogReportBody['key_findings'][number]): string {
  const range = from === undefined ? 'no event' : from === to ? `event ${from}` : `events ${from} to ${to}`
  const are = from === to ? 'is' : 'are'
  if (reason === 'replaced') {
    return `Tampering: the database has another public key under the id of the key ${keyId}, which signed for ${range}.`
  }
  return `Tampering: ${range} ${are} signed for with the key ${keyId}, which is not trusted by anything outside the database. If it belongs to an earlier server secret, pin it with --keys, together with the current key.`
}

const againstFindingTexts: Readonly<Record<NonNullable<AgainstReport['finding']>['reason'], string>> = {
  rewritten: 'differs from the log: the log was rewritten after it was exported',
  removed: 'is no longer in the log: it was removed after it was exported',
  cut: 'is behind the end of the log: the end was cut off after it was exported',
  copy_altered: 'was altered in the export itself',
  unknown_key: 'has an exported checkpoint that was signed with a key that is not trusted',
  bad_signature: 'has an exported checkpoint with an invalid signature',
  unlinked: 'has an exported checkpoint that does not follow from the one before',
}

function againstLines({ path, events, checkpoints, first, last, older, differing, finding }: AgainstReport): string[] {
  if (finding) {
    const count = `${differing} of ${events + checkpoints} exported events and checkpoints ${differing === 1 ? 'differs' : 'differ'} from the log`
    return [
      `Against ${path}: ${count}. Event ${finding.sequence} ${againstFindingTexts[finding.reason]} (${finding.where}).`,
    ]
  }
  if (last === 0) return [`Against ${path}: it contains no event that is still in the log.`]
  const kept = older === 0 ? '' : ` ${older} ${older === 1 ? 'is' : 'are'} older than the log keeps.`
  const compared = `${plural(events, 'exported event')} and ${plural(checkpoints, 'checkpoint')} (${first} to ${last})`
  return [`Against ${path}: ${compared} match the log.${kept}`]
}
