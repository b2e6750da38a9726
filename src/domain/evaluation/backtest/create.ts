import type { Clock } from '../../../base/clock.ts'
import { Fault } from '../../../base/fault.ts'
import type { Ids } from '../../../base/ids.ts'
import type { WithAuditRecord } from '../../identity/audit-log.ts'
import { contentOf } from '../../policy/content.ts'
import { findPolicy } from '../../policy/mutations.ts'
import type { Policy } from '../../policy/policy.ts'
import type { PolicyStore } from '../../policy/store.ts'
import { thresholdOf } from '../verdict/outcomes.ts'
import type { Backtest, BacktestStore, EventChoice } from './backtest.ts'
import { noBacktestCounts } from './counts.ts'

/** What somebody asks for; the rest has defaults. */
export type NewBacktest = Partial<EventChoice> & { readonly thresholds?: readonly number[] }

/** Which policy's draft. */
export type PolicyId = { readonly organizationId: string; readonly policyId: string }

export type BacktestStores = {
  readonly policies: Pick<PolicyStore, 'find'>
  readonly backtests: BacktestStore
}

export type BacktestAdministration = ReturnType<typeof createBacktestAdministration>

const weekMs = 7 * 24 * 60 * 60 * 1000
const defaultLimit = 1_000
const defaultThresholds = [1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000, 9_000]
/** More of them would only wait for each other. */
const mostRunning = 50

/** Asking for backtests, and reading them. */
export function createBacktestAdministration({ ids, clock }: { readonly ids: Ids; readonly clock: Clock }) {
  return {
    async start(stores: BacktestStores, of: PolicyId, asked: NewBacktest): Promise<WithAuditRecord<Backtest>> {
      const policy = await findPolicy(stores.policies, of.organizationId, of.policyId)
      await requireFreeSlot(stores.backtests, of.organizationId)
      const nowMs = clock.nowMs()
      const toMs = asked.toMs ?? nowMs
      const fromMs = asked.fromMs ?? toMs - weekMs
      if (fromMs >= toMs)
        throw new Fault('validation', 'invalid_parameter', 'from: must be before to.', { param: 'from' })
      const span = await stores.backtests.span(of.organizationId, { fromMs, toMs })
      const order = { ...orderOf(policy, asked), fromMs, toMs }
      const backtest: Backtest = {
        id: ids('bt'),
        organizationId: of.organizationId,
        policyId: policy.id,
        status: 'running',
        order,
        cursor: span.last + 1,
        firstSequence: span.first,
        done: 0,
        total: Math.min(span.count, order.limit),
        tally: noBacktestCounts([...order.thresholds, thresholdOf(policy.draft)]),
        error: null,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      }
      await stores.backtests.insert(backtest)
      return { value: backtest, record: recordOf(backtest) }
    },

    async find(stores: BacktestStores, of: PolicyId, id: string): Promise<Backtest> {
      const policy = await findPolicy(stores.policies, of.organizationId, of.policyId)
      const backtest = await stores.backtests.find(of.organizationId, policy.id, id)
      if (backtest) return backtest
      throw new Fault('not_found', 'not_found', `There is no backtest ${id} of the policy ${policy.id}.`)
    },
  }
}

function orderOf({ draft, revision }: Policy, asked: NewBacktest) {
  const { mode: _mode, ...content } = contentOf(draft)
  return {
    draft: content,
    revision,
    limit: asked.limit ?? defaultLimit,
    samplePercent: asked.samplePercent ?? 100,
    thresholds: asked.thresholds ?? defaultThresholds,
  }
}

/** It reads what people have said, so that whoever asks for it is written down. */
function recordOf({ id, policyId, order }: Backtest) {
  const { fromMs, toMs, limit, samplePercent, revision } = order
  return {
    kind: 'backtest.created',
    resourceId: id,
    details: { policy_id: policyId, from: fromMs, to: toMs, limit, sample_percent: samplePercent, revision },
  } as const
}

async function requireFreeSlot(store: BacktestStore, organizationId: string): Promise<void> {
  if ((await store.countRunning(organizationId)) < mostRunning) return
  throw new Fault('conflict', 'invalid_state', `${mostRunning} backtests are running already; wait for one to end.`)
}
