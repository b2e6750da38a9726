import { join } from 'node:path'
import { createChargeBacklog, type ChargeBacklog } from '../domain/credits/backlog.ts'
import { createSliceAllocator } from '../domain/credits/slice-allocator.ts'
import { createReconciler } from '../domain/credits/reconciler.ts'
import type { LedgerStore } from '../domain/credits/ledger-store.ts'
import { createRates } from '../domain/credits/rates.ts'
import { createSettle } from '../domain/credits/settle.ts'
import { createHeartbeat } from '../domain/limits/heartbeat.ts'
import { createLimitsOf, type OverrideStore } from '../domain/limits/overrides.ts'
import { tierTable, withOverrides } from '../domain/limits/tiers.ts'
import { createAdmission, type Admission } from '../pipeline/billing/admission.ts'
import { createBudgets, type BudgetParts } from '../pipeline/billing/budgets.ts'
import { createPreflight, type Preflight } from '../pipeline/billing/preflight.ts'
import { createReadBalance, type ReadBalance } from '../pipeline/billing/read-balance.ts'
import { ledgerStore } from '../adapters/stores/sql/credits/ledger.ts'
import { createChargeSpool } from '../adapters/stores/sql/credits/spool.ts'
import { createLedgerMaintenance } from '../jobs/ledger-maintenance.ts'
import type { Infrastructure } from './infrastructure.ts'
import type { Counters } from './limit-counters.ts'
import { logSetAside, setAsideHelp } from './storage/set-aside.ts'
import { createMeasures } from './billing-metrics.ts'

export type CreditParts = Infrastructure & {
  readonly budgets: Pick<BudgetParts, 'activeBudgetsOf' | 'readSpend'>
  readonly counters: Counters
  readonly overrides: Pick<OverrideStore, 'list'>
  /** How long the credits of a request are held at most. */
  readonly holdMs: number
}

/** Limits and credits: admission of requests, and the balance that pays for them. */
export type Credits = AsyncDisposable & {
  readonly admission: Admission
  readonly ratesOf: ReturnType<typeof createRates>
  readonly preflight: Preflight
  readonly readBalance: ReadBalance
  /** Why no more charges can be stored, or undefined. */
  problem(): string | undefined
}

export async function openCredits(parts: CreditParts): Promise<Credits> {
  await using opened = new AsyncDisposableStack()
  const { config, database, requestWrites, counters, clock, ids, log, failpoint, jobs, warn } = parts
  const { limits } = counters
  const measures = createMeasures(parts.metrics)
  const ledger = ledgerStore(requestWrites, { ids, clock })
  const backlog = database.engine === 'sqlite' ? null : await openBacklog(parts, ledger, opened)
  const holderOf = (epoch: string) => (epoch === counters.ownEpoch ? 'node' : 'shared')
  const allocator = createSliceAllocator({ ...parts, ledger, limits, holderOf })
  const heartbeat = createHeartbeat({ store: limits })
  opened.use(jobs.start('renew-slots', heartbeat.renew))
  const remaining = new Map<string, number>()
  const tiers = withOverrides(tierTable, config.limits.tiers)
  const ratesOf = createRates(config.credits.credit_usd)
  const limitsOf = createLimitsOf({ table: tiers, overrides: parts.overrides })
  const admission = createAdmission({
    limits,
    limitsOf,
    ratesOf,
    allocator,
    ledger,
    backlog,
    heartbeat,
    budgets: createBudgets({ ...parts.budgets, limits, clock, creditUsd: config.credits.credit_usd }),
    settle: createSettle({ ledger, limits, backlog, failpoint, onCharge: measures.charge }),
    clock,
    creditUsd: config.credits.credit_usd,
    remaining,
    failpoint,
    onDecision: measures.admission,
    onUnsettled: (requestId, error) =>
      log.error({ request_id: requestId, error: String(error) }, 'a charge could not be written'),
  })
  const reconciler = createReconciler({
    ...counters,
    ledger,
    allocator,
    backlog,
    holdMs: parts.holdMs,
    clock,
    failpoint,
    onOrphans: measures.orphans,
    onDifference: (organizationId, { description, isOverspending }) =>
      isOverspending
        ? log.error({ organization_id: organizationId }, `the ledger does not add up: ${description}`)
        : log.warn({ organization_id: organizationId }, `charges may be spooled on another node: ${description}`),
  })
  parts.metrics.gauge(
    'gatehouse_ledger_frozen_organizations',
    'Organizations whose ledger is inconsistent; their credits are frozen.',
    () => allocator.frozenCount(),
  )
  // The lock on the data folder proves that the process which held these slices is dead.
  if (database.engine === 'sqlite') await reconciler.releasePrevious()
  const organizations = () => remaining.keys()
  const maintenance = createLedgerMaintenance({ reconciler, backlog, clock, organizations })
  opened.defer(() => maintenance.release().catch(warn('the slices of this node could not be returned to the ledger')))
  opened.use(jobs.start('reconcile-slices', maintenance.reconcileSlices))
  opened.use(jobs.start('reconcile-requests', maintenance.reconcileRequests))
  const kept = opened.move()
  return {
    admission,
    ratesOf,
    preflight: createPreflight({ limits, limitsOf, ledger, ratesOf }),
    readBalance: createReadBalance({ ledger, limits, clock }),
    problem: () => (backlog?.isFull() ? `${backlog.waiting()} charges wait for the database` : undefined),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

async function openBacklog(
  { spoolDir, clock, failpoint, metrics, jobs, log }: CreditParts,
  ledger: LedgerStore,
  opened: AsyncDisposableStack,
): Promise<ChargeBacklog> {
  const spool = opened.use(createChargeSpool(join(spoolDir, 'spool')))
  const backlog = await createChargeBacklog({
    ledger,
    spool,
    clock,
    failpoint,
    onSetAside: logSetAside(log, 'charge'),
  })
  opened.use(jobs.start('flush-spooled-charges', backlog.retry))
  metrics.gauge('gatehouse_charges_set_aside', setAsideHelp('Charges'), backlog.setAside)
  metrics.gauge(
    'gatehouse_charges_waiting',
    'Charges on this node’s disk that are not written to the database yet.',
    () => backlog.waiting(),
  )
  return backlog
}
