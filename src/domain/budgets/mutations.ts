import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import type { Ids } from '../../base/ids.ts'
import { requireName } from '../identity/bounds.ts'
import { foldName } from '../identity/names.ts'
import { changedValues, type AuditRecord, type WithAuditRecord } from '../mutations/audit-log.ts'
import { displayedAmount, invalidBudgetField } from './amount.ts'
import type { Budget, BudgetAction } from './budget.ts'
import { changedFields, fieldOfAmount, newFields, type BudgetPatch, type BudgetSettings } from './complete.ts'
import type { BudgetStore } from './store.ts'

const maxBudgets = 200

export type BudgetAt = { readonly organizationId: string; readonly id: string }

export type BudgetAdministration = ReturnType<typeof createBudgetAdministration>

type Parts = {
  readonly ids: Ids
  readonly clock: Pick<Clock, 'nowMs'>
  /** `budgets.tags` of the configuration. */
  readonly tagNames: readonly string[]
}

/** Every mutation of a budget, in the transaction of the caller, with its audit record. */
export function createBudgetAdministration({ ids, clock, tagNames }: Parts) {
  const draft = async (
    store: Pick<BudgetStore, 'named'>,
    organizationId: string,
    settings: BudgetSettings,
  ): Promise<Budget> => {
    const nowMs = clock.nowMs()
    const fields = newFields(settings, { nowMs, tagNames })
    const budget: Budget = { ...fields, id: ids('bud'), organizationId, revision: 1, updatedAtMs: nowMs }
    await requireReferences(store, budget)
    return budget
  }

  return {
    /** A budget with these settings, which is not stored. */
    draft,

    async create(
      store: BudgetStore,
      organizationId: string,
      settings: BudgetSettings,
    ): Promise<WithAuditRecord<Budget>> {
      await store.lock(organizationId)
      const named = await store.names(organizationId)
      if (named.length >= maxBudgets)
        throw new Fault('conflict', 'budget_limit_reached', `An organization may have ${maxBudgets} budgets.`)
      requireFreeName(named, settings.name)
      const budget = await draft(store, organizationId, settings)
      await store.insert(budget)
      return { value: budget, record: recordOf('budget.created', budget, auditedFields(budget)) }
    },

    async update(
      store: BudgetStore,
      at: BudgetAt & { readonly revision: number },
      patch: BudgetPatch,
    ): Promise<WithAuditRecord<Budget>> {
      await store.lock(at.organizationId)
      const before = await findBudget(store, at)
      if (before.revision !== at.revision) throw revisionConflict(before, at.revision)
      if (patch.name !== undefined && patch.name !== before.name) {
        const others = (await store.names(at.organizationId)).filter(({ id }) => id !== before.id)
        requireFreeName(others, patch.name)
      }
      const nowMs = clock.nowMs()
      const fields = changedFields(before, patch, { nowMs, tagNames })
      const after: Budget = { ...before, ...fields, revision: before.revision + 1, updatedAtMs: nowMs }
      const details = changedValues(auditedFields(before), auditedFields(after))
      if (Object.keys(details).length === 0) return { value: before }
      await requireReferences(store, after, before)
      if (!(await store.replace(after))) throw revisionConflict(before, at.revision)
      const revisions = { oldRevision: before.revision, newRevision: after.revision }
      const record = recordOf('budget.updated', after, { name: after.name, ...details })
      return { value: after, record: { ...record, ...revisions } }
    },

    async remove(store: BudgetStore, at: BudgetAt): Promise<WithAuditRecord<Budget>> {
      await store.lock(at.organizationId)
      const budget = await findBudget(store, at)
      await store.remove(budget)
      return { value: budget, record: recordOf('budget.deleted', budget, auditedFields(budget)) }
    },
  }
}

/** The error is the same for an unknown id and for a budget of another organization. */
export async function findBudget(store: Pick<BudgetStore, 'find'>, { organizationId, id }: BudgetAt): Promise<Budget> {
  const budget = await store.find(organizationId, id)
  if (budget !== undefined) return budget
  throw new Fault('not_found', 'not_found', `There is no budget ${id}.`)
}

/** Requires the projects and keys that were not named before: those named before may be gone since. */
async function requireReferences(
  store: Pick<BudgetStore, 'named'>,
  { organizationId, match }: Budget,
  before?: Budget,
): Promise<void> {
  const kinds = [
    { kind: 'project', param: 'match.project_ids', ids: match.projectIds, known: before?.match.projectIds },
    { kind: 'key', param: 'match.api_key_ids', ids: match.keyIds, known: before?.match.keyIds },
  ] as const
  for (const { kind, param, ids, known = [] } of kinds) {
    const added = ids.filter((id) => !known.includes(id))
    const existing = await store.named(organizationId, kind, added)
    const missing = added.find((id) => !existing.some((each) => each.id === id))
    if (missing !== undefined)
      throw invalidBudgetField(`${param}[${ids.indexOf(missing)}]`, `must name a ${kind} of the organization`)
  }
}

function requireFreeName(others: readonly Pick<Budget, 'id' | 'name'>[], name: string): void {
  requireName(name)
  const other = others.find((each) => foldName(each.name) === foldName(name))
  if (other === undefined) return
  const message = `The budget ${other.id} already has the name ${JSON.stringify(other.name)}. Choose another name.`
  throw new Fault('conflict', 'duplicate_name', message, { param: 'name' })
}

const revisionConflict = ({ revision }: Budget, named: number): Fault =>
  new Fault('conflict', 'revision_conflict', `The budget is at revision ${revision}; the request names ${named}.`, {
    param: 'revision',
  })

const recordOf = (kind: AuditRecord['kind'], { id }: Budget, details: AuditRecord['details']): AuditRecord => ({
  kind,
  resourceId: id,
  details,
})

/** The action as callers write it. */
export const actionText = (action: BudgetAction): string =>
  action.type === 'use_model' ? `use_model:${action.model}` : action.type

const auditedFields = ({ match, unit, amount, extra, ...budget }: Budget) => ({
  name: budget.name,
  match: {
    project_ids: match.projectIds,
    api_key_ids: match.keyIds,
    models: match.models,
    users: match.users,
    tags: match.tags,
  },
  per: budget.per,
  amount_usd: null,
  tokens: null,
  requests: null,
  [fieldOfAmount(unit)]: displayedAmount(unit, amount),
  period: budget.period,
  time_zone: budget.timeZone,
  action: actionText(budget.action),
  warn_at: budget.warnAt,
  extra: extra && {
    amount: displayedAmount(unit, extra.amount),
    until: Math.floor(extra.untilMs / 1000),
    reason: extra.reason,
  },
  state: budget.state,
})
