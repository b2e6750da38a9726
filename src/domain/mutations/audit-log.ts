/** Every kind of audited mutation. */
export const auditKinds = [
  'policy.created',
  'policy.updated',
  'policy.published',
  'policy.paused',
  'policy.resumed',
  'policy.rolled_back',
  'policy.rollout.changed',
  'policy.draft.discarded',
  'policy.deleted',
  'policy.denial_spike.reported',
  'gateway.config.updated',
  'gateway.rollout.rolled_back',
  'gateway.denial_spike.reported',
  'admin_api_key.created',
  'admin_api_key.updated',
  'admin_api_key.rotated',
  'admin_api_key.revoked',
  'project.created',
  'project.updated',
  'project.archived',
  'project.unarchived',
  'api_key.created',
  'api_key.updated',
  'api_key.rotated',
  'api_key.revoked',
  'organization.created',
  'organization.updated',
  'limits.updated',
  'credits.granted',
  'credits.corrected',
  'payment.recorded',
  'budget.created',
  'budget.updated',
  'budget.deleted',
  'budget.threshold_reached',
  'export_sink.created',
  'export_sink.updated',
  'export_sink.deleted',
  'export_sink.replayed',
  'alert_channel.created',
  'alert_channel.updated',
  'alert_channel.deleted',
  'alert_channel.tested',
  'alert_rule.created',
  'alert_rule.updated',
  'alert_rule.deleted',
  'alert.fired',
  'alert.resolved',
  'member.created',
  'member.updated',
  'member.removed',
  'console_link.created',
  'console_session.created',
  'console_session.revoked',
  'audit_texts.erased',
  'audit.content.read',
  'audit_verification.created',
  'policy_case.created',
  'policy_case.updated',
  'policy_case.deleted',
  'policy_exception.created',
  'policy_exception.ended',
  'policy_exception.expired',
  'publish_gate.updated',
  'gate_run.created',
  'gate_run.approved',
  'appeal.opened',
  'appeal.revealed',
  'appeal.labelled',
  'appeal.overturned',
  'appeal.upheld',
  'appeal.dismissed',
  'appeal.expired',
  'gateway_case.created',
  'gateway_case.updated',
  'gateway_case.deleted',
  'judge.created',
  'judge.updated',
  'judge.deleted',
  'judge.activated',
  'judge.shadowed',
  'judge.retired',
  'judge_calibration.created',
  'judge_calibration.cancelled',
  'judge_alarm.fired',
  'judge_alarm.resolved',
  'backtest.created',
  'backtest.cancelled',
  'upstream.created',
  'upstream.updated',
  'upstream.paused',
  'upstream.resumed',
  'upstream.deleted',
  'upstream.tested',
  'upstream.probed',
  'saved_view.created',
  'saved_view.updated',
  'saved_view.deleted',
  'model.created',
  'model.updated',
  'model.paused',
  'model.resumed',
  'model.deleted',
] as const

export type AuditKind = (typeof auditKinds)[number]

/** The audit record of a mutation, returned by the operation that made it. */
export type AuditRecord = {
  readonly kind: AuditKind
  /** The policy, key or project that was changed. */
  readonly resourceId: string
  readonly policyId?: string
  readonly projectId?: string
  readonly oldRevision?: number
  readonly newRevision?: number
  /** For a change of a whole document: recorded as digests, not as values. */
  readonly document?: DocumentChange
  /** Never a secret. */
  readonly details: Readonly<Record<string, unknown>>
}

type Values = Readonly<Record<string, unknown>>

/** The fields whose values differ, as the details of a record: the new values, and in `before` the old ones. */
export function changedValues(before: Values, after: Values): Record<string, unknown> {
  const changed = Object.keys(after).filter((name) => JSON.stringify(after[name]) !== JSON.stringify(before[name]))
  if (changed.length === 0) return {}
  const pick = (values: Values) => Object.fromEntries(changed.map((name) => [name, values[name]]))
  return { ...pick(after), before: pick(before) }
}

export type DocumentChange = {
  readonly digestBefore?: string
  readonly digestAfter: string
  readonly changedFields: readonly string[]
}

/** The result of a mutation with its audit record. Without a record, nothing was changed. */
export type WithAuditRecord<T> = {
  readonly value: T
  readonly record?: AuditRecord
  /** The records of what else the same mutation changed. They are written before it. */
  readonly further?: readonly AuditRecord[]
}

/**
 * Who made a change: a key or token over the API, a session of the console that acts as a key, a member, an operator on
 * the machine, or a person who has the address of a decision.
 */
export const actorKinds = ['admin_key', 'api_key', 'jwt', 'console', 'member', 'operator', 'person'] as const

export type Actor = {
  readonly organizationId: string
  /** `system`: an automatic action of the service. */
  readonly kind: (typeof actorKinds)[number] | 'system'
  readonly credentialId: string | null
  readonly requestId: string | null
  /** The HTTP request that made the change, if there was one. */
  readonly call?: ActorCall
}

export type ActorCall = {
  readonly method: string
  readonly path: string
  readonly address: string
  readonly userAgent?: string | undefined
}

export type AuditEntry = AuditRecord & { readonly id: string; readonly actor: Actor; readonly atMs: number }

/** The write side of the audit log. `domain/audit` reads the entries as events. */
export type AuditLogStore = { append(entry: AuditEntry): Promise<void> }
