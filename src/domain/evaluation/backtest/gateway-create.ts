import type { Clock } from '../../../base/clock.ts'
import { Fault } from '../../../base/fault.ts'
import type { Ids } from '../../../base/ids.ts'
import type { GatewayConfiguration } from '../../gateway-config/configuration.ts'
import { digestOf } from '../../gateway-config/mutations.ts'
import type { AuditRecord, WithAuditRecord } from '../../mutations/audit-log.ts'
import type { BacktestStore, GatewayBacktest } from './backtest.ts'
import { noGatewayCounts } from './gateway-counts.ts'
import { newProgress, requireFreeSlot, type GivenChoice } from './new-backtest.ts'

export type NewGatewayBacktest = GivenChoice & { readonly config: GatewayConfiguration }

export type GatewayBacktestStore = BacktestStore<GatewayBacktest>

export type GatewayBacktestAdministration = ReturnType<typeof createGatewayBacktestAdministration>

/** Creates and cancels backtests of gateway configurations. */
export function createGatewayBacktestAdministration({ ids, clock }: { readonly ids: Ids; readonly clock: Clock }) {
  return {
    async start(
      store: GatewayBacktestStore,
      organizationId: string,
      { config, ...given }: NewGatewayBacktest,
    ): Promise<WithAuditRecord<GatewayBacktest>> {
      await requireFreeSlot(store, organizationId)
      const { choice, progress } = newProgress(given, clock.nowMs())
      const parameters = { ...choice, config }
      const identity = { id: ids('bt'), organizationId, policyId: null }
      const backtest: GatewayBacktest = { ...identity, parameters, counts: noGatewayCounts, ...progress }
      await store.insert(backtest)
      return { value: backtest, record: recordOf('backtest.created', backtest) }
    },

    /** A backtest that has ended stays as it is. */
    async cancel(
      store: GatewayBacktestStore,
      organizationId: string,
      id: string,
    ): Promise<WithAuditRecord<GatewayBacktest>> {
      const backtest = await findGatewayBacktest(store, organizationId, id)
      const updatedAtMs = clock.nowMs()
      const cancelled: GatewayBacktest = { ...backtest, status: 'cancelled', error: 'It was cancelled.', updatedAtMs }
      if (await store.cancel(cancelled, updatedAtMs))
        return { value: cancelled, record: recordOf('backtest.cancelled', cancelled) }
      return { value: await findGatewayBacktest(store, organizationId, id) }
    },
  }
}

export async function findGatewayBacktest(
  store: GatewayBacktestStore,
  organizationId: string,
  id: string,
): Promise<GatewayBacktest> {
  const backtest = await store.find(organizationId, null, id)
  if (backtest) return backtest
  throw new Fault('not_found', 'not_found', `There is no backtest ${id} of the gateway configuration.`)
}

/** A backtest reads stored prompts and responses, so its creation is audited. */
function recordOf(kind: AuditRecord['kind'], { id, parameters }: GatewayBacktest): AuditRecord {
  const { fromMs, toMs, limit, samplePercent, config } = parameters
  return {
    kind,
    resourceId: id,
    details: {
      gateway_config_digest: digestOf(config),
      from: fromMs,
      to: toMs,
      limit,
      sample_percent: samplePercent,
    },
  }
}
