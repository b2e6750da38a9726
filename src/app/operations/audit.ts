import type { Clock } from '../../base/clock.ts'
import type { StoredEncryptions } from '../../adapters/stores/sql/secret-rotation.ts'
import type { AuditedMutation } from '../../domain/identity/audited-mutation.ts'
import type { SignedCheckpoint } from '../../domain/audit/chain/checkpoint.ts'
import { pinnedKeys, type TrustedKeys } from '../../domain/audit/chain/trusted-keys.ts'
import type { EventMaker, TextsKeys } from '../../domain/audit/event/event-maker.ts'
import type { AuditReads, AuditTexts, Fingerprints } from '../../domain/audit/log.ts'
import { verifyLog, type LogReport } from '../../domain/audit/verify-log.ts'
import { presentKeys } from '../../http/admin/audit-logs/present.ts'
import { authorityOf } from '../audit-parts.ts'
import { operatorOf, type InOrganization, type OrganizationOf } from './organization-of.ts'

/** What the command line can ask of the audit log. */
export type AuditOperations = {
  /** `keys`: pinned public keys in PEM, instead of those of the server secret. */
  'audit.verify'(
    input: InOrganization & { from?: number; to?: number; keys?: readonly string[] },
  ): Promise<LogReport & { organization: string }>
  /** A page of events behind `after`, each as the JSON that was hashed; `last` is where the next page begins. */
  'audit.page'(
    input: InOrganization & { after: number; to?: number },
  ): Promise<{ lines: string[]; last: number | null }>
  /** Which fingerprint the log has at each place behind `after` and up to `to`. */
  'audit.fingerprints'(
    input: InOrganization & { after: number; to: number },
  ): Promise<Fingerprints & { organization: string }>
  /** Checkpoints of the log that tell which key took the place of another. They are as good as their signatures. */
  'audit.handovers'(input: { organization: string }): Promise<readonly SignedCheckpoint[]>
  /** Derived from the server secret, whatever the database says. */
  'audit.keys'(input: object): Promise<ReturnType<typeof presentKeys>['data']>
  /** Erases the texts that are kept beside the events of a request; the events stay. */
  'audit.erase'(input: InOrganization & { request: string }): Promise<{ erased: number }>
}

export type AuditOperationParts = {
  readonly reads: { readonly events: AuditReads }
  /** Makes and checks events of the log. */
  readonly events: EventMaker
  readonly trustedKeys: () => TrustedKeys
  readonly seals: Pick<StoredEncryptions, 'textsKeys'>
  readonly clock: Clock
  readonly administer: AuditedMutation<{ readonly texts: AuditTexts }>
  readonly organizationOf: OrganizationOf
}

const pageSize = 500

export function createAuditOperations(parts: AuditOperationParts): AuditOperations {
  const { events, clock, seals, trustedKeys, administer, organizationOf } = parts
  const reads = parts.reads.events

  /** Of earlier server secrets. One that does not decrypt proves nothing, and its texts count as unchecked. */
  async function retiredTextsKeys(): Promise<TextsKeys> {
    const published = await reads.keys()
    return new Map(
      published.flatMap(({ id, textsKey }) => {
        const text =
          textsKey && seals.textsKeys.isCurrent(textsKey, id) ? seals.textsKeys.decrypt(textsKey, id) : undefined
        return text === undefined ? [] : [[authorityOf(id), Buffer.from(text, 'base64')] as const]
      }),
    )
  }

  return {
    async 'audit.verify'({ keys: pinned, ...input }) {
      const organization = await organizationOf(input)
      const keys = pinned ? pinnedKeys(pinned) : trustedKeys()
      const textsKeys = await retiredTextsKeys()
      const report = await verifyLog(reads, organization, {
        events,
        keys,
        textsKeys,
        nowMs: clock.nowMs(),
        range: input,
      })
      return { organization, ...report }
    },
    async 'audit.page'(input) {
      const rows = await reads.rows(await organizationOf(input), {
        after: input.after,
        last: input.to,
        limit: pageSize,
      })
      return { lines: rows.map(({ body }) => body), last: rows.at(-1)?.sequence ?? null }
    },
    async 'audit.fingerprints'(input) {
      const organization = await organizationOf(input)
      return { organization, ...(await reads.fingerprints(organization, { after: input.after, last: input.to })) }
    },
    'audit.handovers': ({ organization }) => reads.handovers(organization),
    'audit.keys': async () => presentKeys(trustedKeys().keys, await reads.keys()).data,
    async 'audit.erase'(input) {
      const organizationId = await organizationOf(input)
      return administer(operatorOf(organizationId), async ({ texts }) => {
        const erased = await texts.erase(organizationId, input.request)
        if (erased === 0) return { value: { erased } }
        const record = { kind: 'audit_texts.erased', resourceId: input.request, details: { erased } } as const
        return { value: { erased }, record }
      })
    },
  }
}
