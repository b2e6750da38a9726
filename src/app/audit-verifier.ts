import type { VerificationOptions, VerificationThreads } from '../adapters/stores/sql/verification/threads.ts'
import type { Clock } from '../base/clock.ts'
import { Fault, messageOf } from '../base/fault.ts'
import { pinnedKeys, type TrustedKeys } from '../domain/audit/chain/trusted-keys.ts'
import type { TextsKeys } from '../domain/audit/event/event-maker.ts'
import type { LogReport, VerifyParts, VerifyProgress } from '../domain/audit/verify-log.ts'
import type { VerifyAuditLog } from '../http/operator/audit-log.ts'
import { authorityOf, type AuditParts } from './audit-parts.ts'
import type { Stores } from './stores.ts'

export type AuditVerifierParts = {
  readonly clock: Clock
  readonly stores: Pick<Stores, 'auditLog' | 'encryptions'> & { readonly audit: AuditParts }
  readonly verification: VerificationThreads
}

type VerifyOptions = Parameters<VerifyAuditLog>[1] & Pick<VerifyParts, 'resumeAt'> & VerificationOptions<VerifyProgress>

type AuditVerifier = (organizationId: string, options: VerifyOptions) => Promise<LogReport>

/** Verifies an audit log in a thread, with the keys of the server secret or with pinned ones. */
export function createAuditVerifier({ clock, stores, verification }: AuditVerifierParts): AuditVerifier {
  const { audit, auditLog } = stores
  const stored = stores.encryptions.textsKeys

  /** Texts keys of earlier server secrets. A key that cannot be decrypted is left out, and its texts count as unchecked. */
  async function retiredTextsKeys(): Promise<TextsKeys> {
    const published = await auditLog.keys()
    return new Map(
      published.flatMap(({ id, textsKey }) => {
        const isReadable = textsKey !== null && stored.isCurrent(textsKey, id)
        const text = isReadable ? stored.decrypt(textsKey, id) : undefined
        return text === undefined ? [] : [[authorityOf(id), Buffer.from(text, 'base64')] as const]
      }),
    )
  }

  return async (organizationId, { keys, from, to, acceptLate, resumeAt, ...options }) =>
    verification.run(
      'auditLog',
      {
        organizationId,
        keys: keys === undefined ? audit.trustedKeys() : readKeys(keys),
        textsKeys: new Map([...(await retiredTextsKeys()), ...audit.textsKeys()]),
        nowMs: clock.nowMs(),
        range: { from, to },
        acceptLate,
        resumeAt,
      },
      options,
    )
}

function readKeys(keys: readonly string[]): TrustedKeys {
  try {
    return pinnedKeys(keys)
  } catch (cause) {
    throw new Fault('validation', 'invalid_parameter', `keys: ${messageOf(cause)}`, { param: 'keys', cause })
  }
}
