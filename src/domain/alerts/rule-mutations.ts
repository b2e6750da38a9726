import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import { changedValues, type WithAuditRecord } from '../mutations/audit-log.ts'
import { invalidAlertField } from './invalid-field.ts'
import type { AlertChannelStore } from './channel.ts'
import {
  definitionOf,
  type AlertRule,
  type AlertRuleStore,
  type RuleFilter,
  type RuleKind,
  type RuleWindow,
  type ThresholdUnit,
  type WatchedRule,
} from './rule.ts'

/** The fields of a rule that people write. Those left out have the defaults of the kind. */
export type RuleSettings = {
  readonly name: string
  readonly threshold?: number | null
  readonly unit?: ThresholdUnit | null
  readonly window?: RuleWindow | null
  readonly minRequests?: number | null
  readonly forMinutes?: number
  readonly filter?: RuleFilter | null
  readonly channelIds?: readonly string[]
  readonly isPaused?: boolean
}

export type NewRule = RuleSettings & { readonly kind: RuleKind }

export type RuleAt = { readonly organizationId: string; readonly id: string }

type RuleStores = { readonly rules: AlertRuleStore; readonly channels: Pick<AlertChannelStore, 'existing'> }

export type RuleParts = {
  readonly ids: Ids
  readonly clock: Clock
}

export type RuleAdministration = ReturnType<typeof createRuleAdministration>

const maxRules = 200

/** Every mutation of an alert rule, in the transaction of the caller. */
export function createRuleAdministration({ ids, clock }: RuleParts) {
  return {
    async create(
      stores: RuleStores,
      organizationId: string,
      { kind, ...given }: NewRule,
    ): Promise<WithAuditRecord<WatchedRule>> {
      const fields = completeRule(kind, given)
      await requireReferences(stores, organizationId, fields)
      if ((await stores.rules.count(organizationId)) >= maxRules)
        throw new Fault('conflict', 'alert_limit_reached', `An organization may have ${maxRules} alert rules.`)
      const nowMs = clock.nowMs()
      const times = { version: 1, createdAtMs: nowMs, updatedAtMs: nowMs }
      const rule: AlertRule = { id: ids('rule'), organizationId, kind, ...fields, ...times }
      await stores.rules.insert(rule)
      const value = { ...rule, firing: [] }
      return { value, record: { kind: 'alert_rule.created', resourceId: rule.id, details: auditedFields(rule) } }
    },

    async update(stores: RuleStores, at: RuleAt, patch: Partial<RuleSettings>): Promise<WithAuditRecord<WatchedRule>> {
      const rule = await findRule(stores.rules, at)
      const fields = completeRule(rule.kind, { ...rule, ...patch })
      await requireReferences(stores, at.organizationId, {
        channelIds: patch.channelIds ? fields.channelIds : [],
        filter: patch.filter ? fields.filter : null,
      })
      const after: AlertRule = { ...rule, ...fields, version: rule.version + 1, updatedAtMs: clock.nowMs() }
      const details = changedValues(auditedFields(rule), auditedFields(after))
      if (Object.keys(details).length === 0) return { value: rule }
      if (!(await stores.rules.replace(after))) throw changedMeanwhile(rule.id)
      const value = { ...after, firing: rule.firing }
      return { value, record: { kind: 'alert_rule.updated', resourceId: rule.id, details } }
    },

    async remove({ rules }: Pick<RuleStores, 'rules'>, at: RuleAt): Promise<WithAuditRecord<AlertRule>> {
      const rule = await findRule(rules, at)
      if (!(await rules.remove(rule, clock.nowMs()))) throw changedMeanwhile(rule.id)
      const details = { kind: rule.kind, name: rule.name }
      return { value: rule, record: { kind: 'alert_rule.deleted', resourceId: rule.id, details } }
    },
  }
}

/** Finds a rule. The error is the same for an unknown id and for a rule of another organization. */
export async function findRule(
  store: Pick<AlertRuleStore, 'find'>,
  { organizationId, id }: RuleAt,
): Promise<WatchedRule> {
  const rule = await store.find(organizationId, id)
  if (!rule) throw new Fault('not_found', 'not_found', `There is no alert rule ${id}.`)
  return rule
}

type RuleFields = Omit<AlertRule, 'id' | 'organizationId' | 'kind' | 'version' | 'createdAtMs' | 'updatedAtMs'>

/** The settings with the defaults of the kind. Rejects what the kind does not have. */
export function completeRule(kind: RuleKind, given: RuleSettings): RuleFields {
  const definition = definitionOf(kind)
  const unit = choiceOf('unit', given.unit, { kind, choices: definition.units })
  const window = choiceOf('window', given.window, { kind, choices: definition.windows })
  const filter = given.filter ?? null
  if (filter && !definition.filters.includes(filter.name))
    throw invalidAlertField(`filter.${filter.name}`, `is not a filter of ${kind} rules`)
  const forMinutes = given.forMinutes ?? definition.forMinutes
  return {
    name: given.name,
    threshold: thresholdOf(kind, unit, given.threshold),
    unit,
    window,
    minRequests: unit === 'percent' ? (given.minRequests ?? definition.minRequests ?? null) : null,
    forMinutes,
    filter,
    channelIds: [...new Set(given.channelIds)],
    isPaused: given.isPaused ?? false,
  }
}

type Choices<T> = { readonly kind: RuleKind; readonly choices: readonly T[] }

function choiceOf<T extends string>(
  param: string,
  given: T | null | undefined,
  { kind, choices }: Choices<T>,
): T | null {
  if (given == null) return choices[0] ?? null
  if (choices.includes(given)) return given
  if (choices.length === 0) throw invalidAlertField(param, `must be left out, because ${kind} rules have none`)
  throw invalidAlertField(param, `must be one of ${choices.join(', ')} for ${kind} rules`)
}

function thresholdOf(kind: RuleKind, unit: ThresholdUnit | null, given: number | null | undefined): number | null {
  if (unit === null) {
    if (given == null) return null
    throw invalidAlertField('threshold', `must be left out, because ${kind} rules have none`)
  }
  const threshold = given ?? definitionOf(kind).threshold
  if (threshold === undefined) throw invalidAlertField('threshold', `is required for ${kind} rules`)
  if (unit === 'percent' && !isShareOfLimit(kind) && threshold >= 100)
    throw invalidAlertField('threshold', 'must be below 100 percent')
  return threshold
}

/** More than a limit can be used: a budget may only warn. */
const isShareOfLimit = (kind: RuleKind): boolean => kind === 'key_near_limit' || kind === 'budget_near_limit'

type References = Pick<RuleFields, 'channelIds' | 'filter'>

async function requireReferences(
  { channels, rules }: RuleStores,
  organizationId: string,
  { channelIds, filter }: References,
): Promise<void> {
  const existing = await channels.existing(organizationId, channelIds)
  const at = channelIds.findIndex((id) => !existing.includes(id))
  if (at !== -1) throw invalidAlertField(`channel_ids[${at}]`, 'must name an alert channel of the organization')
  if (filter && !(await rules.hasSubject(organizationId, filter)))
    throw invalidAlertField(`filter.${filter.name}`, 'must name an object of the organization')
}

const changedMeanwhile = (id: string): Fault =>
  new Fault('conflict', 'invalid_state', `The alert rule ${id} was changed at the same time; send the request again.`)

const auditedFields = ({
  kind,
  name,
  threshold,
  unit,
  window,
  minRequests,
  forMinutes,
  filter,
  channelIds,
  isPaused,
}: AlertRule) => ({
  kind,
  name,
  threshold,
  unit,
  window,
  min_requests: minRequests,
  for_minutes: forMinutes,
  filter: filter === null ? null : { [filter.name]: filter.id },
  channel_ids: channelIds,
  paused: isPaused,
})
