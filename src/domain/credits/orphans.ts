import type { Clock } from '../../base/clock.ts'
import type { Failpoint } from '../../base/failpoint.ts'
import type { CreditAccount, OpenHold } from '../limits/admission.ts'
import type { LimitStore } from '../limits/store.ts'
import type { Charge } from './charge.ts'
import type { LedgerStore } from './ledger-store.ts'

export type OrphanParts = {
  readonly ledger: Pick<LedgerStore, 'settle'>
  readonly limits: Pick<LimitStore, 'settle'>
  readonly clock: Clock
  readonly failpoint: Failpoint
}

/**
 * Ends the requests whose deadline has passed. The ledger is told first that they are given up; what it then says
 * decides: 0, or what was charged by whoever died before telling the counters. Answers how many it ended.
 */
export async function resolveOrphans(
  { ledger, limits, clock, failpoint }: OrphanParts,
  organization: string,
  accounts: readonly CreditAccount[],
): Promise<number> {
  const overdue = accounts.flatMap(({ holds }) => holds).filter((hold) => hold.overdue)
  for (const hold of overdue) {
    const { requestId, project, key, tokens } = hold
    const { micro } = await ledger.settle(givenUp(organization, hold, clock.nowMs()))
    await failpoint('given up')
    await limits.settle({ organization, project, key, requestId, tokens, micro })
  }
  return overdue.length
}

const givenUp = (organizationId: string, hold: OpenHold, atMs: number): Charge => ({
  requestId: hold.requestId,
  organizationId,
  projectId: hold.project,
  keyId: hold.key,
  model: '',
  atMs,
  outcome: 'orphaned',
  sliceId: hold.sliceId,
  micro: 0,
  usage: { inputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 0, source: 'estimated' },
  rates: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, version: '' },
})
