import { setImmediate } from 'node:timers/promises'
import assert from 'node:assert/strict'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { backtestQueue, backtestStore } from '../../src/adapters/stores/sql/policies/backtests.ts'
import { policyStore } from '../../src/adapters/stores/sql/policies/policies.ts'
import { createIds } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/random.ts'
import type { EventFacts } from '../../src/domain/audit/event/facts.ts'
import { createEvaluate } from '../../src/domain/evaluation/evaluate.ts'
import type { Backtest, BacktestQueue } from '../../src/domain/evaluation/backtest/backtest.ts'
import { createBacktestAdministration, type NewBacktest } from '../../src/domain/evaluation/backtest/create.ts'
import { createReplay, type ReplayParts } from '../../src/domain/evaluation/backtest/replay.ts'
import { createBacktestRunner } from '../../src/domain/evaluation/backtest/runner.ts'
import { perCategory } from '../../src/domain/scan/classify/categories.ts'
import type { ScanText } from '../../src/domain/scan/scan.ts'
import { createPolicy } from '../../src/domain/policy/lifecycle.ts'
import type { PolicyContent } from '../../src/domain/policy/content.ts'
import { openAuditLog } from './audit-log.ts'
import { prefilterOf } from './policy-prefilter.ts'

const organizationId = 'org_1'
const policyId = 'pol_1'

/** A text scores the number after `score`, if there is one. */
const compileRule: ReplayParts['compileRule'] = () => ({
  lookBehind: 'whole',
  condition: undefined,
  evaluator: 'judge',
  names: [],
  categories: [],
  score({ text }) {
    if (text.includes('broken')) throw new Error('a rule broke')
    if (text.includes('riddle')) return { notEvaluated: 'riddle', isFailure: false }
    return { basisPoints: Number(/score (\d+)/.exec(text)?.[1] ?? 0) }
  },
})

const scanText: ScanText = async () => ({
  classification: { flagged: [], scores: perCategory(() => 0), cues: {} },
  termHits: [],
  personalData: [],
})

const shared = { pause: setImmediate, canRephrase: false, failsOpen: false, cacheEntries: 0, prefilterOf }

/** An organization with a draft, and requests in its log. */
export async function openBacktestScene(database: Database, draft: Partial<PolicyContent> = {}) {
  const log = await openAuditLog(database)
  const { clock } = log
  const ids = createIds(clock, systemRandom)
  const backtests = createBacktestAdministration({ ids, clock, checkRule: () => {} })
  const policy = createPolicy({ name: 'P', rule: 'R', ...draft }, { id: policyId, organizationId, nowMs: 1 })
  await database.transaction((tx) => policyStore(tx).insert(policy))
  const replayed: string[] = []

  const find = (id: string): Promise<Backtest | undefined> =>
    database.transaction((tx) => backtestStore(tx).find(organizationId, policyId, id))

  return {
    log,
    clock,
    find,
    /** Texts that were evaluated, in order. */
    replayed,
    addRequest: (prompt: string, facts: Partial<EventFacts> = {}) =>
      log.append(1, { content: { full: { prompt, response: '' } }, ...facts }),
    async start(order: NewBacktest = {}): Promise<string> {
      const { value } = await database.transaction((tx) =>
        backtests.start(
          { policies: policyStore(tx), backtests: backtestStore(tx) },
          { organizationId, policyId },
          { toMs: clock.nowMs() + 1, ...order },
        ),
      )
      return value.id
    },
    cancel: (id: string) =>
      database.transaction((tx) =>
        backtests.cancel({ policies: policyStore(tx), backtests: backtestStore(tx) }, { organizationId, policyId }, id),
      ),
    /** A runner of backtests; `onReplay` is called between events. */
    work(
      owner: string,
      onReplay: (text: string) => void | Promise<void> = () => {},
      failing: Partial<BacktestQueue> = {},
    ) {
      const errors: unknown[] = []
      const recording: ScanText = async (request) => {
        replayed.push(request.text)
        await onReplay(request.text)
        return scanText(request)
      }
      const work = createBacktestRunner({
        queue: { ...backtestQueue({ database, clock, owner, leaseMs: 60_000 }), ...failing },
        replay: createReplay({ evaluate: createEvaluate({ ...shared, scanText: recording }), compileRule }),
        clock,
        pause: setImmediate,
        onError: (error) => errors.push(error),
      })
      return Object.assign(work, { errors })
    },
    async result(id: string): Promise<Backtest['counts']> {
      const backtest = await find(id)
      assert.equal(backtest?.status, 'completed')
      return backtest.counts
    },
  }
}
