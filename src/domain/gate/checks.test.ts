import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { noBacktestCounts, type BacktestCounts } from '../evaluation/backtest/counts.ts'
import { checksOf, openChecks, stateOf, type GateFacts } from './checks.ts'
import { defaultGate, gateWith, type OwnGateSettings } from './settings.ts'

const hourMs = 3_600_000
const nowMs = 1_000 * hourMs
const noCases = { must: 0, failed: 0, failedIds: [], shouldFailed: 0 }

type Given = Partial<Omit<GateFacts, 'settings' | 'run' | 'backtest'>> & {
  readonly settings?: OwnGateSettings
  readonly run?: Partial<GateFacts['run']>
  /** Counts of a completed backtest. */
  readonly counts?: Partial<BacktestCounts> & { readonly withText: number }
  readonly backtest?: GateFacts['backtest']
}

function factsOf({ settings = {}, run = {}, counts, ...rest }: Given): GateFacts {
  const none = noBacktestCounts([])
  return {
    settings: gateWith(defaultGate, settings),
    run: { cases: noCases, replayProblem: null, approvals: [], ...run },
    backtest: counts && {
      status: 'completed',
      done: counts.withText,
      total: counts.withText,
      counts: { ...none, ...counts, coverage: { ...none.coverage, with_text: counts.withText } },
    },
    monitored: undefined,
    isEnforcing: true,
    nowMs,
    ...rest,
  }
}

/** What the gate says, as few words. */
const says = (given: Given): string => {
  const checks = checksOf(factsOf(given))
  return `${stateOf(checks)}: ${checks.map(({ kind, state }) => `${kind} ${state}`).join(', ')}`
}

const requireReplay = { replay: { level: 'require' } } as const

describe('the checks of the publish gate', () => {
  it('fail with one case of weight must, and report those of weight should only', () => {
    const settings = { replay: { level: 'off' } } as const
    assert.equal(says({ settings, run: { cases: { ...noCases, must: 3 } } }), 'passed: cases passed')
    assert.equal(says({ settings, run: { cases: { ...noCases, must: 3, failed: 1 } } }), 'failed: cases failed')
    assert.equal(says({ settings, run: { cases: { ...noCases, must: 3, shouldFailed: 2 } } }), 'passed: cases passed')
    const warned = { ...settings, cases: { level: 'warn' } } as const
    assert.equal(says({ settings: warned, run: { cases: { ...noCases, must: 3, failed: 1 } } }), 'warned: cases failed')
  })

  it('compare the upper bound of a share, not the share', () => {
    const blocked = (found: number, withText: number) =>
      says({ settings: requireReplay, counts: { withText, newly_blocked: found } })
    assert.equal(blocked(0, 1_000), 'passed: cases passed, newly_blocked passed')
    assert.equal(blocked(1, 1_000), 'passed: cases passed, newly_blocked passed')
    // 2 of 1,000 is less than half of a percent, but may be more in truth.
    assert.equal(blocked(2, 1_000), 'failed: cases passed, newly_blocked failed')
    assert.equal(blocked(20, 1_000), 'failed: cases passed, newly_blocked failed')
    assert.equal(blocked(0, 999), 'insufficient: cases passed, newly_blocked insufficient')
  })

  it('say the share, its bound and its limit in words', () => {
    const [, check] = checksOf(factsOf({ settings: requireReplay, counts: { withText: 1_000, newly_blocked: 20 } }))
    assert.partialDeepStrictEqual(check, { found: 20, of: 1_000, limitBp: 50, boundBp: 290 })
    assert.equal(
      check?.message,
      '20 of 1000 recorded requests would newly be denied: at most 2.9 %, where 0.5 % is allowed.',
    )
  })

  it('leave requests out that could not be evaluated, and count them where they have a limit', () => {
    const settings = { replay: { level: 'require', newly_blocked_bp: null, not_evaluated_bp: 50 } } as const
    assert.equal(
      says({ settings, counts: { withText: 2_000, not_evaluated: 100 } }),
      'failed: cases passed, not_evaluated failed',
    )
    assert.equal(
      says({ settings: requireReplay, counts: { withText: 1_050, not_evaluated: 100 } }),
      'insufficient: cases passed, newly_blocked insufficient',
    )
  })

  it('wait for the backtest, and are not passed without one', () => {
    const running = { status: 'running', done: 5, total: 10, counts: noBacktestCounts([]) } as const
    assert.equal(says({ settings: requireReplay, backtest: running }), 'running: cases passed, newly_blocked running')
    assert.equal(says({ settings: requireReplay }), 'insufficient: cases passed, newly_blocked not_run')
    assert.equal(
      says({ settings: requireReplay, backtest: { ...running, status: 'cancelled' } }),
      'insufficient: cases passed, newly_blocked not_run',
    )
    assert.equal(openChecks(checksOf(factsOf({ backtest: running }))).length, 0, 'a warning does not stand in the way')
  })

  it('take a day in monitoring in place of too few recorded requests', () => {
    const monitored = { sinceMs: nowMs - 24 * hourMs, requests: 3, matches: 0 }
    const settings = requireReplay
    assert.equal(says({ settings, monitored, counts: { withText: 3 } }), 'passed: cases passed, newly_blocked passed')
    const tooShort = { ...monitored, sinceMs: nowMs - 23 * hourMs }
    assert.equal(
      says({ settings, monitored: tooShort, counts: { withText: 3 } }),
      'insufficient: cases passed, newly_blocked insufficient',
    )
  })

  it('ask for the same rule in monitoring for long enough, on enough requests, with few matches', () => {
    const settings = { replay: { level: 'off' }, shadow: { level: 'require' } } as const
    const shadow = (monitored: GateFacts['monitored']) => says({ settings, monitored })
    const day = { sinceMs: nowMs - 24 * hourMs, requests: 1_000, matches: 0 }
    assert.equal(shadow(undefined), 'insufficient: cases passed, shadow not_run')
    assert.equal(shadow({ ...day, sinceMs: nowMs - 23 * hourMs }), 'insufficient: cases passed, shadow insufficient')
    assert.equal(shadow({ ...day, requests: 999 }), 'insufficient: cases passed, shadow insufficient')
    assert.equal(shadow(day), 'passed: cases passed, shadow passed')
    assert.equal(shadow({ ...day, matches: 20 }), 'failed: cases passed, shadow failed')
  })

  it('count approvals', () => {
    const settings = { replay: { level: 'off' }, approvals: { level: 'require', count: 2 } } as const
    const by = (...names: string[]) => ({ approvals: names.map((name) => ({ by: name, atMs: 1 })) })
    assert.equal(says({ settings, run: by('ann') }), 'failed: cases passed, approvals failed')
    assert.equal(says({ settings, run: by('ann', 'bob') }), 'passed: cases passed, approvals passed')
  })

  it('ask a draft in monitoring for its cases and approvals only', () => {
    const settings = { ...requireReplay, shadow: { level: 'require' } } as const
    assert.equal(says({ settings, isEnforcing: false }), 'passed: cases passed')
  })
})
