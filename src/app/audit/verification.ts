import { pinnedKeys, type KeyFinding, type TrustedKeys } from '../../domain/audit/chain/trusted-keys.ts'
import { isWhole, type LogReport, type SignedRange } from '../../domain/audit/verify-log.ts'
import type { Operations } from '../operations/operations.ts'
import type { InOrganization } from '../operations/organization-of.ts'
import { verifyAgainst, type AgainstReport } from './verify-against.ts'
import { readPinnedKeys, verifyFile } from './verify-file.ts'

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
  if (file !== undefined && pinned) return { subject: file, report: await verifyFile(file, pinnedKeys(pinned)) }
  await using house = await open()
  const { operations } = house
  const keys = pinned ? pinnedKeys(pinned) : await keysOfSecret(operations)
  const handoversOf = (organization: string) => operations['audit.handovers']({ organization })
  if (file !== undefined) return { subject: file, report: await verifyFile(file, keys, handoversOf) }
  const { organization, ...report } = await operations['audit.verify']({ ...input, ...(pinned && { keys: pinned }) })
  if (against === undefined) return { subject: organization, report }
  const read = (range: { after: number; to: number }) => operations['audit.fingerprints']({ organization, ...range })
  return { subject: organization, report, against: await verifyAgainst(against, { keys, read, handoversOf }) }
}

async function keysOfSecret(operations: Operations): Promise<TrustedKeys> {
  const keys = await operations['audit.keys']({})
  return { ...pinnedKeys(keys.map(({ public_key: pem }) => pem)), source: 'server_secret' }
}
