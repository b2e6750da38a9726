import { setImmediate } from 'node:timers/promises'
import assert from 'node:assert/strict'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { createEmbeddedClassifier } from '../../src/adapters/classifiers/embedded/classifier.ts'
import { re2Patterns } from '../../src/adapters/patterns/re2.ts'
import { backtestQueue, backtestStore, gatewayBacktestStore } from '../../src/adapters/stores/sql/policies/backtests.ts'
import { policyStore } from '../../src/adapters/stores/sql/policies/policies.ts'
import { createIds } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/random.ts'
import type { EventFacts } from '../../src/domain/audit/event/facts.ts'
import { createEvaluate } from '../../src/domain/evaluation/evaluate.ts'
import type { Backtest, BacktestQueue, GatewayBacktest } from '../../src/domain/evaluation/backtest/backtest.ts'
import { createBacktestAdministration, type NewBacktest } from '../../src/domain/evaluation/backtest/create.ts'
import {
  createGatewayBacktestAdministration,
  type NewGatewayBacktest,
} from '../../src/domain/evaluation/backtest/gateway-create.ts'
import { createGatewayReplay } from '../../src/domain/evaluation/backtest/gateway-replay.ts'
import { createReplay, type ReplayParts } from '../../src/domain/evaluation/backtest/replay.ts'
import { createBacktestRunner } from '../../src/domain/evaluation/backtest/runner.ts'
import { emptyRulebook, type ActivePolicy } from '../../src/domain/evaluation/rulebook.ts'
import { withDefaults, type GivenConfiguration } from '../../src/domain/gateway-config/complete.ts'
import { perCategory } from '../../src/domain/scan/classify/categories.ts'
import { createScanText, type ScanText } from '../../src/domain/scan/scan.ts'
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
  injectionPlaces: [],
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

/** For gateway configurations, whose terms and personal data are found as in a request. */
const scanWhole = createScanText({ classifier: createEmbeddedClassifier(), pause: setImmediate, cacheEntries: 0 })

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
  const gatewayBacktests = createGatewayBacktestAdministration({ ids, clock })

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
          order,
        ),
      )
      return value.id
    },
    cancel: (id: string) =>
      database.transaction((tx) =>
        backtests.cancel({ policies: policyStore(tx), backtests: backtestStore(tx) }, { organizationId, policyId }, id),
      ),
    async startGateway(given: GivenConfiguration, choice: Omit<NewGatewayBacktest, 'config'> = {}): Promise<string> {
      const input = { config: withDefaults(given), ...choice }
      const { value } = await database.transaction((tx) =>
        gatewayBacktests.start(gatewayBacktestStore(tx), organizationId, input),
      )
      return value.id
    },
    cancelGateway: (id: string) =>
      database.transaction((tx) => gatewayBacktests.cancel(gatewayBacktestStore(tx), organizationId, id)),
    findGateway: (id: string): Promise<GatewayBacktest | undefined> =>
      database.transaction((tx) => gatewayBacktestStore(tx).find(organizationId, null, id)),
    /** Policies in force while a gateway configuration is replayed. */
    inForce: [] as ActivePolicy[],
    /** A runner of backtests; `onReplay` is called between events. */
    work(
      owner: string,
      onReplay: (text: string) => void | Promise<void> = () => {},
      failing: Partial<BacktestQueue> = {},
    ) {
      const errors: unknown[] = []
      const recordingOf =
        (scan: ScanText): ScanText =>
        async (request) => {
          replayed.push(request.text)
          await onReplay(request.text)
          return scan(request)
        }
      const evaluateWith = (scan: ScanText) => createEvaluate({ ...shared, scanText: recordingOf(scan) })
      const { inForce } = this
      const work = createBacktestRunner({
        queue: { ...backtestQueue({ database, clock, owner, leaseMs: 60_000 }), ...failing },
        replay: createReplay({ evaluate: evaluateWith(scanText), compileRule, rulebookOf: () => emptyRulebook }),
        gatewayReplay: createGatewayReplay({
          evaluate: evaluateWith(scanWhole),
          rulebookOf: () => ({ ...emptyRulebook, organizationId, policies: inForce }),
          patterns: re2Patterns,
        }),
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
