import { readArchiveCopy } from '../adapters/archive/archive-copy.ts'
import { readExported } from '../adapters/sinks/exported-files.ts'
import { isRecord } from '../base/record.ts'
import { NotRegularFile, readRegularFile } from '../base/regular-file.ts'
import type { SignedCheckpoint } from '../domain/audit/chain/checkpoint.ts'
import { isVerificationKey, pinnedKeys, type TrustedKeys } from '../domain/audit/chain/trusted-keys.ts'
import { verifyArchive, type ArchiveReport } from '../domain/audit/archive/verify-archive.ts'
import { verifyAgainst, type AgainstReport } from '../domain/audit/verify-against.ts'
import { verifyExport, type HandoversOf } from '../domain/audit/verify-export.ts'
import { presentLogReport } from '../http/operator/audit-log.ts'
import type { ApiClient } from './client/api-client.ts'
import type { ArchivedObjectBody } from '../http/admin/audit-logs/archive-schema.ts'
import type { AuditEventsBody, FingerprintsBody } from '../http/operator/audit-log-schema.ts'
import type { CheckpointKeysBody } from '../http/admin/audit-logs/schema.ts'

export type { AgainstReport, ArchiveReport }

/** The report of the API about a log, or the same about a file. */
export type LogReportBody = ReturnType<typeof presentLogReport>

/** What was checked: a log, a file or an archive, and the exported copies of the log that were compared with it. */
export type AuditVerification = {
  readonly report: LogReportBody
  readonly against?: AgainstReport
  readonly archive?: ArchiveReport
}

export type VerifyInput = {
  readonly from?: number
  readonly to?: number
  /** Exported events to check in place of the log. */
  readonly file?: string | undefined
  /** Exported events to compare the log with. */
  readonly against?: string | undefined
  /** A folder with the archive to check in place of the log. */
  readonly archive?: string | undefined
  /** Late signatures of events up to this sequence are accepted. */
  readonly acceptLate?: number | undefined
  /** A file with public keys to trust in place of those of the server secret. */
  readonly keys?: string | undefined
}

export const isProven = ({ report, against, archive }: AuditVerification): boolean =>
  report.whole &&
  (against === undefined || (against.differing === 0 && against.last > 0)) &&
  (archive === undefined || archive.findings.length === 0)

/** Checks a log, a file or an archive. Calls `open` only if the service is needed: a file with pinned keys needs nothing else. */
export async function verifyWith(
  open: () => Promise<AsyncDisposable & { readonly client: ApiClient }>,
  { file, against, archive, keys: keyFile, acceptLate, ...range }: VerifyInput,
): Promise<AuditVerification> {
  const pinned = keyFile === undefined ? undefined : readPinnedKeys(keyFile)
  if (file !== undefined && pinned)
    return {
      report: presentLogReport(file, await verifyExport(() => readExported(file), pinnedKeys(pinned), { acceptLate })),
    }
  await using connection = await open()
  const { client } = connection
  const keys = pinned ? pinnedKeys(pinned) : await keysOfSecret(client)
  const handoversOf = async (organization: string): Promise<readonly SignedCheckpoint[]> => {
    const query = { organization_id: organization }
    return (await client.get<{ data: SignedCheckpoint[] }>('/operator/audit_log/handovers', query)).data
  }
  if (file !== undefined)
    return {
      report: presentLogReport(file, await verifyExport(() => readExported(file), keys, { handoversOf, acceptLate })),
    }
  if (archive !== undefined) return await verifyArchiveWith(client, archive, { keys, handoversOf, acceptLate })
  const body = { ...range, ...(pinned && { keys: pinned }), ...(acceptLate && { accept_late: acceptLate }) }
  const report = await client.post<LogReportBody>('/operator/organization/audit_log/verification', body)
  if (against === undefined) return { report }
  const read = (query: { after: number; to: number }) => readFingerprints(client, query)
  const exported = { path: against, entries: readExported(against) }
  return { report, against: await verifyAgainst(exported, { keys, read, handoversOf }) }
}

type ArchiveChecks = {
  readonly keys: TrustedKeys
  readonly handoversOf: HandoversOf
  readonly acceptLate: number | undefined
}

async function verifyArchiveWith(client: ApiClient, path: string, checks: ArchiveChecks): Promise<AuditVerification> {
  const { organization } = await readFingerprints(client, { after: 0, to: 0 })
  const written = await client.list<ArchivedObjectBody>('/v1/organization/audit_logs/archive')
  const { log, archive } = await verifyArchive(await readArchiveCopy(path, organization), {
    ...checks,
    written: written.data.map(({ name }) => name),
    read: (query) => readFingerprints(client, query),
    async readBody(sequence) {
      const query = { after: sequence - 1, to: sequence }
      return (await client.get<AuditEventsBody>('/operator/organization/audit_log/events', query)).lines[0]
    },
  })
  return { report: presentLogReport(organization, log), archive }
}

async function readFingerprints(client: ApiClient, query: { after: number; to: number }) {
  const path = '/operator/organization/audit_log/fingerprints'
  const { chain_uid: chainUid, ...rest } = await client.get<FingerprintsBody>(path, query)
  return { chainUid, ...rest }
}

async function keysOfSecret(client: ApiClient): Promise<TrustedKeys> {
  const { data } = await client.get<CheckpointKeysBody>('/operator/audit_log/keys')
  return { ...pinnedKeys(data.map(({ public_key: pem }) => pem)), source: 'server_secret' }
}

/** Public keys in PEM from a file: as `audit keys` prints them, as the API lists them, or plain PEM. */
function readPinnedKeys(path: string): string[] {
  const text = readKeyFile(path)
  const keys = (listedKeys(text) ?? [text]).flatMap((each) => each.match(pemBlocks) ?? [])
  if (keys.length === 0) throw new Error(`The file of --keys, ${path}, contains no public key. ${expectedKeys}`)
  const invalid = keys.findIndex((pem) => !isVerificationKey(pem))
  if (invalid === -1) return keys
  throw new Error(
    `Public key ${invalid + 1} in the file of --keys, ${path}, is not an Ed25519 key in PEM. ${expectedKeys}`,
  )
}

const expectedKeys =
  'It must contain public keys: the output of "gatehouse audit keys", with or without --json, or PEM.'

function readKeyFile(path: string): string {
  try {
    return readRegularFile(path)
  } catch (error) {
    const code = isRecord(error) ? String(error.code) : ''
    const reason = error instanceof NotRegularFile ? `it ${error.reason}` : (readErrors[code] ?? code)
    throw new Error(`Cannot read the file of --keys, ${path}: ${reason}. ${expectedKeys}`, { cause: error })
  }
}

const readErrors: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
}

const pemBlocks = /-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g

function listedKeys(text: string): string[] | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const list = isRecord(value) ? value.data : value
  return Array.isArray(list) ? list.map((key) => String(isRecord(key) ? key.public_key : '')) : []
}
