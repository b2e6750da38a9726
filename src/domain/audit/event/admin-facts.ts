import type { Actor, AuditEntry } from '../../mutations/audit-log.ts'
import type { KeyDenialReason } from '../../identity/key-denial.ts'
import type { Administrator, Principal } from '../../identity/principal.ts'
import { canonicalize } from './canonical.ts'
import type { AuditContent } from './content.ts'
import type { JsonValue } from './document.ts'
import type { ChangeFacts, EventFacts } from './facts.ts'
import { codeOfKind } from './kinds.ts'

/** The facts of an administrator's mutation. The text of a rule goes to the event's content, never to its document. */
export function changeFacts(entry: AuditEntry): EventFacts {
  const { kind, actor, atMs, resourceId, projectId, oldRevision, newRevision, details } = entry
  const [type] = splitKind(kind)
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
  return {
    type: 'policy',
    id: policyId,
    ...versions,
    changedFields: Object.keys(details).filter((name) => name !== 'before'),
  }
}

/** Resource type and verb: `gateway.config.updated` gives `gateway_config` and `updated`. */
function splitKind(kind: string): [resource: string, verb: string] {
  const end = kind.lastIndexOf('.')
  return [kind.slice(0, end).replaceAll('.', '_'), kind.slice(end + 1)]
}

/** For `policy.rolled_back`: "adk_1 rolled back the policy pol_1." */
function sentence(kind: string, resourceId: string, { kind: actorKind, credentialId }: Actor): string {
  if (kind === 'budget.threshold_reached') return `A threshold of the budget ${resourceId} was reached.`
  const [resource, verb] = splitKind(kind).map((word) => word.replaceAll('_', ' '))
  return `${credentialId ?? `The ${actorKind}`} ${verb} the ${resource} ${resourceId}.`
}

type Details = AuditEntry['details']
type JsonObject = { readonly [key: string]: JsonValue | undefined }

function contentOf(details: Details): AuditContent {
  const rule = ruleIn(details) ?? ruleIn(details['version'])
  // Through JSON, so that undefined fields are absent, as they are when the content is read again.
  return { details: plain(details), ...(rule !== undefined && { full: { rule } }) }
}

function ruleIn(value: unknown): string | undefined {
  const rule: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'rule') : undefined
  return typeof rule === 'string' ? rule : undefined
}

/** Without the texts of rules: they may be long, and most destinations must not see them. */
const withoutRules = (details: Details): JsonObject => plain(details, (key) => key !== 'rule')

const plain = (value: Details, keep: (key: string) => boolean = () => true): JsonObject =>
  JSON.parse(
    canonicalize(JSON.parse(JSON.stringify(value, (key, member: unknown) => (keep(key) ? member : undefined)))),
  )

export type KeyDenial = {
  readonly caller: Administrator | Principal
  readonly address: string
  readonly reason: KeyDenialReason
  readonly timeMs: number
  /** Denied requests since the last event of this key and reason, with this one. */
  readonly requests: number
}

const explanations: Readonly<Record<KeyDenialReason, string>> = {
  ip_not_allowed: 'which its allowed_ips do not hold',
  revoked: 'although it is revoked',
  expired: 'although it has expired or was replaced',
  project_archived: 'although its project is archived',
  permission_denied: 'for something that it has no permission for',
}

/** The facts of a known key that was denied: it may be stolen, or somebody forgot to replace it. */
export function keyDenialFacts({ caller, address, reason, timeMs, requests }: KeyDenial): EventFacts {
  const type = typeOf(caller)
  return {
    code: `admin.${type}.denied`,
    organizationId: caller.organization.id,
    projectId: 'projectId' in caller ? caller.projectId : undefined,
    timeMs,
    message: `${caller.id} was used from ${address}, ${explanations[reason]}.`,
    actor: { credentialId: caller.id },
    failure: { code: reason },
    resources: [{ type, uid: caller.id }],
    details: { actor_type: caller.kind, address, reason, requests, resource_id: caller.id },
  }
}

function typeOf(caller: Administrator | Principal): 'api_key' | 'admin_api_key' | 'member' {
  if ('projectId' in caller) return 'api_key'
  return caller.kind === 'member' ? 'member' : 'admin_api_key'
}
