import { ledgerStore } from '../../adapters/stores/sql/credits/ledger.ts'
import { ledgerReports } from '../../adapters/stores/sql/credits/reports.ts'
import { noBalance } from '../../domain/credits/ledger-store.ts'
import { windowMinutes } from '../../domain/evaluation/spikes/spike.ts'
import type { Organization } from '../../domain/identity/principal.ts'
import { readSpend } from '../../domain/overview/overview.ts'
import { readAttentionFacts } from '../../domain/overview/read-attention.ts'
import { attentionStores } from '../features/attention-stores.ts'
import type { Infrastructure } from '../infrastructure.ts'
import type { Stores } from '../stores.ts'

/** Reads what the attention list of the overview is made from. Upstreams and the use of keys have rules of their own. */
export function attentionReader({ config, database, clock, ids }: Infrastructure, stores: Stores) {
  const reads = { ...attentionStores(stores)(stores.reading), events: stores.reportedEvents }
  const ledger = ledgerReports(database, { clock, userDays: config.audit.retention_days })
  const balances = ledgerStore(database, { ids, clock })
  return async ({ id: organizationId, metered }: Organization, expiresWithinMs: number) => {
    const nowMs = clock.nowMs()
    const balance = metered ? ((await balances.balance(organizationId)) ?? noBalance) : undefined
    const spend = await readSpend(organizationId, { ledger, balance, creditUsd: config.credits.credit_usd, nowMs })
    const options = { organizationId, nowMs, hasJudge: config.policies.judge !== undefined }
    const facts = await readAttentionFacts(reads, { ...options, expiresWithinMs, spikeMinutes: windowMinutes })
    return { ...facts, upstreams: [], keyUse: [], spend }
  }
}
