import { readFileSync } from 'node:fs'
import { readExported } from '../adapters/sinks/exported-files.ts'
import { isRecord } from '../base/record.ts'
import { isVerificationKey, pinnedKeys, type KeyFinding, type TrustedKeys } from '../domain/audit/chain/trusted-keys.ts'
import { isWhole, type LogReport, type SignedRange } from '../domain/audit/verify-log.ts'
import type { Operations } from './operations/operations.ts'
import type { InOrganization } from './operations/organization-of.ts'
import { verifyAgainst, type AgainstReport } from '../domain/audit/verify-against.ts'
import { verifyExport } from '../domain/audit/verify-export.ts'

export type { AgainstReport, KeyFinding, LogReport, SignedRange }

/** What was checked: a log or a file, and the copies of the log that were compared with it. */
export type AuditVerification = {
  readonly subject: string
  readonly report: LogReport
  readonly against?: AgainstReport
}

export type VerifyInput = InOrganization & {
  readonly from?: number
  readonly to?: number
  /** Exported events to check in place of the log. */
  readonly file?: string | undefined
  /** Exported events to compare the log with. */
  readonly against?: string | undefined
  /** A file with public keys to trust in place of those of the server secret. */
  readonly keys?: string | undefined
}

export const isProven = ({ report, against }: AuditVerification): boolean =>
  isWhole(report) && (against === undefined || (against.differing === 0 && against.last > 0))

/** Checks what a command names. `open` is called only where the service is needed: a file with pinned keys stands alone. */
export async function verifyWith(
  open: () => Promise<AsyncDisposable & { readonly operations: Operations }>,
  { file, against, keys: keyFile, ...input }: VerifyInput,
): Promise<AuditVerification> {
  const pinned = keyFile === undefined ? undefined : readPinnedKeys(keyFile)
  if (file !== undefined && pinned)
    return { subject: file, report: await verifyExport(() => readExported(file), pinnedKeys(pinned)) }
  await using house = await open()
  const { operations } = house
  const keys = pinned ? pinnedKeys(pinned) : await keysOfSecret(operations)
  const handoversOf = (organization: string) => operations['audit.handovers']({ organization })
  if (file !== undefined)
    return { subject: file, report: await verifyExport(() => readExported(file), keys, handoversOf) }
  const { organization, ...report } = await operations['audit.verify']({ ...input, ...(pinned && { keys: pinned }) })
  if (against === undefined) return { subject: organization, report }
  const read = (range: { after: number; to: number }) => operations['audit.fingerprints']({ organization, ...range })
  const exported = { path: against, entries: readExported(against) }
  return { subject: organization, report, against: await verifyAgainst(exported, { keys, read, handoversOf }) }
}

async function keysOfSecret(operations: Operations): Promise<TrustedKeys> {
  const keys = await operations['audit.keys']({})
  return { ...pinnedKeys(keys.map(({ public_key: pem }) => pem)), source: 'server_secret' }
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
    return readFileSync(path, 'utf8')
  } catch (error) {
    const code = isRecord(error) ? String(error.code) : ''
    const reason = readErrors[code] ?? code
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
