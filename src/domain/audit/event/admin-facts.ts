import type { Actor, AuditEntry } from '../../identity/audit-log.ts'
import type { Administrator, Principal } from '../../identity/principal.ts'
import { canonicalize } from './canonical.ts'
import type { AuditContent } from './content.ts'
import type { JsonValue } from './document.ts'
import type { ChangeFacts, EventFacts } from './facts.ts'
import { codeOfKind } from './kinds.ts'

/** What an administrator changed, as the log tells it. The text of a rule stands beside the event, never in it. */
export function changeFacts(entry: AuditEntry): EventFacts {
  const { kind, actor, atMs, resourceId, projectId, oldRevision, newRevision, details } = entry
  const [type] = wordsOf(kind)
  return {
    code: codeOfKind(kind),
    organizationId: actor.organizationId,
    timeMs: atMs,
    message: sentence(kind, resourceId, actor),
    requestId: actor.requestId ?? undefined,
    projectId,
    actor: { credentialId: actor.credentialId ?? undefined },
    call: actor.call,
    change: changeOf(entry),
    ...(type !== 'project' && { resources: [{ type, uid: resourceId }] }),
    details: {
      actor_type: actor.kind,
      changes: withoutRules(details),
      new_revision: newRevision,
      old_revision: oldRevision,
      resource_id: resourceId,
    },
    content: contentOf(details),
  }
}

function changeOf(entry: AuditEntry): ChangeFacts | undefined {
  const { resourceId, policyId, oldRevision, newRevision, details, document } = entry
  const versions = { versionBefore: oldRevision?.toString(), versionAfter: newRevision?.toString() }
  if (document) return { type: 'gateway_config', id: resourceId, ...versions, ...document }
  if (policyId === undefined) return undefined
  return { type: 'policy', id: policyId, ...versions, changedFields: Object.keys(details) }
}

/** What was changed and how: `gateway.config.updated` is `gateway_config` and `updated`. */
function wordsOf(kind: string): [resource: string, verb: string] {
  const end = kind.lastIndexOf('.')
  return [kind.slice(0, end).replaceAll('.', '_'), kind.slice(end + 1)]
}

/** `policy.rolled_back` reads "adk_1 rolled back the policy pol_1." */
function sentence(kind: string, resourceId: string, { kind: actorKind, credentialId }: Actor): string {
  const [resource, verb] = wordsOf(kind).map((word) => word.replaceAll('_', ' '))
  return `${credentialId ?? `The ${actorKind}`} ${verb} the ${resource} ${resourceId}.`
}

type Details = AuditEntry['details']
type JsonObject = { readonly [key: string]: JsonValue | undefined }

function contentOf(details: Details): AuditContent {
  const rule = ruleIn(details) ?? ruleIn(details['version'])
  // As JSON says it: what is undefined here is not there when it is read again.
  return { details: plain(details), ...(rule !== undefined && { full: { rule } }) }
}

function ruleIn(value: unknown): string | undefined {
  const rule: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'rule') : undefined
  return typeof rule === 'string' ? rule : undefined
}

/** Rules by name alone: their texts may be long, and are nobody's business at most destinations. */
const withoutRules = (details: Details): JsonObject => plain(details, (key) => key !== 'rule')

const plain = (value: Details, keep: (key: string) => boolean = () => true): JsonObject =>
  JSON.parse(
    canonicalize(JSON.parse(JSON.stringify(value, (key, member: unknown) => (keep(key) ? member : undefined)))),
  )

export type IpDenial = {
  readonly caller: Administrator | Principal
  readonly address: string
  readonly timeMs: number
}

/** A valid key was used from an address that its list does not hold: it may be stolen, or the list too short. */
export function ipDenialFacts({ caller: who, address, timeMs }: IpDenial): EventFacts {
  const isAdmin = !('projectId' in who)
  return {
    code: isAdmin ? 'admin.admin_api_key.denied' : 'admin.api_key.denied',
    organizationId: who.organization.id,
    projectId: 'projectId' in who ? who.projectId : undefined,
    timeMs,
    message: `${who.id} was used from ${address}, which its allowed_ips do not hold.`,
    actor: { credentialId: who.id },
    failure: { code: 'ip_not_allowed' },
    resources: [{ type: isAdmin ? 'admin_api_key' : 'api_key', uid: who.id }],
    details: { actor_type: who.kind, address, resource_id: who.id },
  }
}
