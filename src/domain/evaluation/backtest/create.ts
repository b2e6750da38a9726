import type { Clock } from '../../../base/clock.ts'
import { Fault } from '../../../base/fault.ts'
import type { Ids } from '../../../base/ids.ts'
import type { WithAuditRecord } from '../../mutations/audit-log.ts'
import type { Page, Paged } from '../../identity/store.ts'
import { contentWith, thresholdOf, type PolicyContent } from '../../policy/content.ts'
import { findPolicy } from '../../policy/mutations.ts'
import type { Policy } from '../../policy/policy.ts'
import type { PolicyStore } from '../../policy/store.ts'
import type { Backtest, BacktestStore } from './backtest.ts'
import { noBacktestCounts } from './counts.ts'
import { newProgress, requireFreeSlot, type GivenChoice } from './new-backtest.ts'

/** The parameters that a caller may set; all have defaults. */
export type NewBacktest = GivenChoice & {
  readonly thresholds?: readonly number[]
  /** Replaces fields of the draft for this backtest only. */
  readonly changes?: Partial<PolicyContent>
}

type BacktestAdministrationParts = {
  readonly ids: Ids
  readonly clock: Clock
  readonly checkRule: (rule: string, param: string) => void
}

/** The policy whose draft is replayed. */
export type PolicyId = { readonly organizationId: string; readonly policyId: string }

export type BacktestStores = {
  readonly policies: Pick<PolicyStore, 'find'>
  readonly backtests: BacktestStore
}

export type BacktestAdministration = ReturnType<typeof createBacktestAdministration>

const defaultThresholds = [1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000, 9_000]
/** Creates, reads and cancels backtests. */
export function createBacktestAdministration({ ids, clock, checkRule }: BacktestAdministrationParts) {
  return {
    async start(stores: BacktestStores, of: PolicyId, input: NewBacktest): Promise<WithAuditRecord<Backtest>> {
      const policy = await findPolicy(stores.policies, of.organizationId, of.policyId)
      if (input.changes?.rule !== undefined) checkRule(input.changes.rule, 'changes.rule')
      await requireFreeSlot(stores.backtests, of.organizationId)
      const { choice, progress } = newProgress(input, clock.nowMs())
      const parameters = { ...parametersOf(policy, input), ...choice }
      const backtest: Backtest = {
        id: ids('bt'),
        organizationId: of.organizationId,
        policyId: policy.id,
        parameters,
        counts: noBacktestCounts([...parameters.thresholds, thresholdOf(parameters.draft)]),
        ...progress,
      }
      await stores.backtests.insert(backtest)
      return { value: backtest, record: recordOf('backtest.created', backtest) }
    },

    find,

    async list(stores: BacktestStores, of: PolicyId, page: Page): Promise<Paged<Backtest>> {
      const policy = await findPolicy(stores.policies, of.organizationId, of.policyId)
      return stores.backtests.list(of.organizationId, policy.id, page)
    },

    /** A backtest that has ended stays as it is. */
    async cancel(stores: BacktestStores, of: PolicyId, id: string): Promise<WithAuditRecord<Backtest>> {
      const backtest = await find(stores, of, id)
      const nowMs = clock.nowMs()
      const cancelled: Backtest = { ...backtest, status: 'cancelled', error: 'It was cancelled.', updatedAtMs: nowMs }
      if (await stores.backtests.cancel(cancelled, nowMs))
        return { value: cancelled, record: recordOf('backtest.cancelled', cancelled) }
      return { value: await find(stores, of, id) }
    },
  }
}

async function find(stores: BacktestStores, of: PolicyId, id: string): Promise<Backtest> {
  const policy = await findPolicy(stores.policies, of.organizationId, of.policyId)
  const backtest = await stores.backtests.find(of.organizationId, policy.id, id)
  if (backtest) return backtest
  throw new Fault('not_found', 'not_found', `There is no backtest ${id} for the policy ${policy.id}.`)
}

function parametersOf({ draft, revision }: Policy, input: NewBacktest) {
  const { mode: _mode, ...content } = contentWith(draft, input.changes ?? {})
  return {
    draft: content,
    revision,
    ...(input.changes !== undefined && { hasChanges: true }),
    thresholds: input.thresholds ?? defaultThresholds,
  }
}

/** A backtest reads stored prompts and responses, so its creation is audited. */
function recordOf(kind: 'backtest.created' | 'backtest.cancelled', { id, policyId, parameters }: Backtest) {
  const { fromMs, toMs, limit, samplePercent, revision } = parameters
  return {
    kind,
    resourceId: id,
    details: { policy_id: policyId, from: fromMs, to: toMs, limit, sample_percent: samplePercent, revision },
  }
}
