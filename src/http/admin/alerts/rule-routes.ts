import { toUnixSeconds } from '../../../base/clock.ts'
import { ruleFilters, type RuleFilter, type RuleKind, type WatchedRule } from '../../../domain/alerts/rule.ts'
import {
  findRule,
  type RuleAdministration,
  type RuleAt,
  type RuleSettings,
} from '../../../domain/alerts/rule-mutations.ts'
import type { Administrator } from '../../../domain/identity/principal.ts'
import { requirePermission, type Permission } from '../../../domain/identity/permissions.ts'
import { contentTag } from '../../resources/entity-tag.ts'
import { none } from '../../resources/fields.ts'
import { pageOf, presentList } from '../../resources/list.ts'
import type { ManagedResource } from '../../resources/managed-by.ts'
import type { Route } from '../../route.ts'
import type { AdminRoutes } from '../routes.ts'
import { requireSystemAccess, type SystemVisibility } from '../system/authority.ts'
import type { AlertStores } from './channel-routes.ts'
import * as Schema from './rule-schema.ts'

const rulesPath = '/v1/organization/alert_rules'
const rulePath = `${rulesPath}/{rule_id}`

const answer = { description: 'The alert rule.', schema: Schema.RuleObject }

/** `/v1/organization/alert_rules`: when alerts are sent. */
export function alertRuleRoutes(
  { read, mutation }: AdminRoutes<AlertStores>,
  rules: RuleAdministration,
  visibility: SystemVisibility,
): Route[] {
  return [
    read({
      name: 'listAlertRules',
      isManaged: true,
      path: rulesPath,
      summary: 'List alert rules',
      permission: 'alerts:read',
      params: none,
      query: Schema.RuleQuery,
      answer: { description: 'A page of alert rules.', schema: Schema.RuleList },
      operation: async ({ rules: store }, { actor, query }) =>
        presentList(await store.list(actor.organization.id, pageOf(query)), presentRule),
    }),
    mutation({
      name: 'createAlertRule',
      method: 'POST',
      path: rulesPath,
      summary: 'Create an alert rule',
      description:
        'Also needs the permission to read what the rule reports: `usage:read` for `spend` and `credit_low`, `audit:read` for `denials` and `errors`, `keys:read` for `key_near_limit` and `key_expiring`, `budgets:read` for `budget_near_limit`, `exports:read` for `sink_failing` and `dead_letters`, `policies:read` for policies, `system:read` for `upstream_failing`. Settings that are left out have the defaults of the kind.',
      permission: 'alerts:write',
      params: none,
      query: none,
      body: Schema.NewRuleBody,
      status: 201,
      answer,
      operation(stores, { actor, body: { kind, name, ...settings } }) {
        requireReading(actor, kind, visibility)
        return rules.create(stores, actor.organization.id, { kind, name, ...settingsOf(settings) })
      },
      managed: managedRule,
      present: presentRule,
    }),
    read({
      name: 'getAlertRule',
      isManaged: true,
      path: rulePath,
      summary: 'Read an alert rule',
      permission: 'alerts:read',
      params: Schema.RuleParams,
      query: none,
      answer,
      tag: contentTag,
      operation: async ({ rules: store }, input) => presentRule(await findRule(store, ruleAt(input))),
    }),
    mutation({
      name: 'updateAlertRule',
      method: 'PATCH',
      path: rulePath,
      summary: 'Change an alert rule',
      description:
        'The kind cannot be changed. An alert that lasts goes on if the rule still applies, and is over otherwise.',
      permission: 'alerts:write',
      params: Schema.RuleParams,
      query: none,
      body: Schema.ChangedRuleBody,
      answer,
      async operation(stores, input) {
        const { kind } = await findRule(stores.rules, ruleAt(input))
        requireReading(input.actor, kind, visibility)
        return rules.update(stores, ruleAt(input), settingsOf(input.body))
      },
      managed: managedRule,
      present: presentRule,
    }),
    mutation({
      name: 'deleteAlertRule',
      method: 'DELETE',
      path: rulePath,
      summary: 'Delete an alert rule',
      description: 'Its alerts end, and nothing is sent about that.',
      permission: 'alerts:write',
      params: Schema.RuleParams,
      query: none,
      body: none,
      answer: { description: 'The id of the deleted alert rule.', schema: Schema.DeletedRule },
      operation: (stores, input) => rules.remove(stores, ruleAt(input)),
      removes: ({ id }) => ({ id }),
      present: ({ id }) => ({ id, object: 'organization.alert_rule.deleted', deleted: true }),
    }),
  ]
}

/** Who may not read something must not get it in an alert either. */
const permissionOfRule: Readonly<Record<RuleKind, Permission>> = {
  spend: 'usage:read',
  credit_low: 'usage:read',
  denials: 'audit:read',
  errors: 'audit:read',
  key_near_limit: 'keys:read',
  key_expiring: 'keys:read',
  budget_near_limit: 'budgets:read',
  sink_failing: 'exports:read',
  dead_letters: 'exports:read',
  upstream_failing: 'system:read',
  policy_spike: 'policies:read',
  policy_paused: 'policies:read',
  rule_not_judged: 'policies:read',
}

function requireReading(actor: Administrator, kind: RuleKind, visibility: SystemVisibility): void {
  requirePermission(actor.permissions, permissionOfRule[kind])
  if (kind === 'upstream_failing') requireSystemAccess(actor, visibility)
}

const managedRule = ({ id }: { readonly id: string }): ManagedResource => ({ id, kind: 'alert_rule.updated' })

/** The settings that the body has. Null restores the default of the kind. */
function settingsOf({ name, ...body }: Schema.RuleBodySettings): Partial<RuleSettings> {
  const { threshold, unit, window, min_requests: minRequests, for_minutes: forMinutes, filter, paused } = body
  return {
    ...(name !== undefined && { name }),
    ...(threshold !== undefined && { threshold }),
    ...(unit !== undefined && { unit }),
    ...(window !== undefined && { window }),
    ...(minRequests !== undefined && { minRequests }),
    ...(forMinutes !== undefined && { forMinutes }),
    ...(filter !== undefined && { filter: filterOf(filter) }),
    ...(body.channel_ids !== undefined && { channelIds: body.channel_ids }),
    ...(paused !== undefined && { isPaused: paused }),
  }
}

export function filterOf(filter: NonNullable<Schema.RuleBodySettings['filter']> | null): RuleFilter | null {
  const name = ruleFilters.find((each) => filter?.[each] !== undefined)
  const id = name && filter?.[name]
  return name && id !== undefined ? { name, id } : null
}

type RuleInput = {
  readonly actor: { readonly organization: { readonly id: string } }
  readonly params: { readonly rule_id: string }
}

const ruleAt = ({ actor, params }: RuleInput): RuleAt => ({ organizationId: actor.organization.id, id: params.rule_id })

const presentRule = (rule: WatchedRule): Schema.AlertRuleBody => ({
  id: rule.id,
  object: 'organization.alert_rule',
  kind: rule.kind,
  name: rule.name,
  threshold: rule.threshold,
  unit: rule.unit,
  window: rule.window,
  min_requests: rule.minRequests,
  for_minutes: rule.forMinutes,
  filter: rule.filter && { [rule.filter.name]: rule.filter.id },
  channel_ids: [...rule.channelIds],
  paused: rule.isPaused,
  state: rule.isPaused ? 'paused' : rule.firing.length > 0 ? 'firing' : 'ok',
  firing: rule.firing.map(({ alertId, subject, title, sinceMs }) => ({
    alert_id: alertId,
    subject: subject === '' ? null : subject,
    title,
    since: toUnixSeconds(sinceMs),
  })),
  created_at: toUnixSeconds(rule.createdAtMs),
  updated_at: toUnixSeconds(rule.updatedAtMs),
})
