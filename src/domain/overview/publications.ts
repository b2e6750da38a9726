import { isRecord } from '../../base/record.ts'
import type { AuditReads, LoggedEvent } from '../audit/log.ts'
import type { ReportPeriod } from './period.ts'

/** A policy or the gateway configuration that came into force. */
export type PublicationEvent = {
  readonly atMs: number
  /** Null for the gateway configuration. */
  readonly policyId: string | null
  readonly version: number | null
  /** The administrator key or member; null for the operator of the server. */
  readonly actorId: string | null
  readonly eventId: string
}

const policyCodes = ['policy.published', 'policy.rolled_back'] as const
const gatewayCode = 'gateway.config.updated'

/** The newest of each kind. */
const page = { limit: 20, order: 'desc' } as const

type Wanted = ReportPeriod & { readonly hasPolicies: boolean; readonly hasGateway: boolean }

/** What came into force in a period, oldest first. */
export async function readPublications(
  events: Pick<AuditReads, 'list'>,
  organizationId: string,
  { from, to, hasPolicies, hasGateway }: Wanted,
): Promise<PublicationEvent[]> {
  const codes = [...(hasPolicies ? policyCodes : []), ...(hasGateway ? [gatewayCode] : [])]
  const found = await Promise.all(
    codes.map((code) => events.list(organizationId, { code, fromMs: from * 1000, toMs: to * 1000 }, page)),
  )
  return found.flatMap(({ items }) => items.map(publicationOf)).sort((a, b) => a.atMs - b.atMs)
}

function publicationOf({ id, document }: LoggedEvent): PublicationEvent {
  const { entity, actor, unmapped, time: atMs } = document
  return {
    atMs,
    policyId: entity?.type === 'policy' ? entity.uid : null,
    version: versionIn(unmapped.gatehouse),
    actorId: actor.session?.credential_uid ?? null,
    eventId: id,
  }
}

/** A policy has a version beside its revision. The gateway configuration counts its versions as revisions. */
function versionIn({
  changes,
  new_revision: revision,
}: LoggedEvent['document']['unmapped']['gatehouse']): number | null {
  const version: unknown = isRecord(changes) && isRecord(changes['version']) ? changes['version']['version'] : revision
  return typeof version === 'number' ? version : null
}
