import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { backtestQueue } from '../../src/adapters/stores/sql/policies/backtests.ts'
import type { EventFacts } from '../../src/domain/audit/event/facts.ts'
import type { VerdictFacts } from '../../src/domain/audit/event/verdict.ts'
import type { GatewayBacktestCounts } from '../../src/domain/evaluation/backtest/gateway-counts.ts'
import type { ActivePolicy } from '../../src/domain/evaluation/rulebook.ts'
import { initialContent } from '../../src/domain/policy/content.ts'
import { openBacktestScene } from '../support/backtest-scene.ts'
import { engines } from '../support/engines.ts'

const [sqlite] = engines

async function openScene() {
  assert.ok(sqlite)
  const database = await sqlite.open()
  const scene = await openBacktestScene(database)
  return {
    ...scene,
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    queueOf: (owner: string) => backtestQueue({ database, clock: scene.clock, owner, leaseMs: 60_000 }),
    async resultOf(id: string): Promise<GatewayBacktestCounts> {
      const backtest = await scene.findGateway(id)
      assert.equal(backtest?.status, 'completed', backtest?.error ?? '')
      return backtest.counts
    },
  }
}

const decided = (decision: VerdictFacts['decision'], by: VerdictFacts['check'] = 'gateway'): Partial<EventFacts> => ({
  verdict: { decision, isEnforced: true, check: by },
})
const changesOf = ({
  newly_blocked,
  newly_allowed,
  newly_modified,
  no_longer_modified,
  ...rest
}: GatewayBacktestCounts) => [
  newly_blocked,
  newly_allowed,
  newly_modified,
  no_longer_modified,
  rest.changed_reason,
  rest.unchanged,
  rest.not_evaluated,
]
const falcon = { rules: { denylist: ['falcon'] } }

describe('a backtest of a gateway configuration', () => {
  it('counts exactly the requests that a configuration denies, two in a hundred', async () => {
    await using scene = await openScene()
    for (let at = 0; at < 300; at++) await scene.addRequest(at % 50 === 7 ? `the Falcon ${at}` : `hello ${at}`)
    const id = await scene.startGateway(falcon)
    await using work = scene.work('node')
    await work.run()
    const counts = await scene.resultOf(id)
    assert.deepEqual(changesOf(counts), [6, 0, 0, 0, 0, 294, 0])
    assert.deepEqual(counts.coverage, { events: 300, sampled: 300, with_text: 300, redacted_only: 0, from_sample: 0 })
    assert.deepEqual(counts.projects['proj_1']?.newly_blocked, 6)
    assert.deepEqual(counts.decisions, [
      { recorded: 'allow', candidate: 'allow', requests: 294 },
      { recorded: 'allow', candidate: 'refuse', requests: 6 },
    ])
    assert.equal(counts.example_requests.length, 6)
    assert.doesNotMatch(JSON.stringify(counts), /falcon|hello/i)
  })

  it('compares with what happened to each request, and names what it would change', async () => {
    await using scene = await openScene()
    await scene.addRequest('a falcon', decided('refuse')) // stays denied
    await scene.addRequest('a falcon', decided('escalate')) // denied in another way
    await scene.addRequest('a falcon', decided('refuse', 'policy')) // denied by both
    await scene.addRequest('a sparrow', decided('refuse')) // the configuration of then denied it
    await scene.addRequest('a sparrow', decided('refuse', 'policy')) // not a matter of the configuration
    await scene.addRequest('ann@example.com')
    await scene.addRequest('ann@example.com', decided('redact'))
    await scene.addRequest('a sparrow', decided('redact'))
    await scene.addRequest('ann@example.com', decided('rewrite'))
    await scene.addRequest('a falcon', { verdict: { decision: 'refuse', isEnforced: false, check: 'gateway' } })
    await scene.addRequest('', { content: undefined })
    const id = await scene.startGateway({ rules: { denylist: ['falcon'], redact: true } })
    await using work = scene.work('node')
    await work.run()
    const counts = await scene.resultOf(id)
    assert.deepEqual(changesOf(counts), [1, 1, 1, 1, 3, 3, 0])
    assert.deepEqual(counts.coverage, { events: 11, sampled: 11, with_text: 10, redacted_only: 0, from_sample: 0 })
    assert.deepEqual(counts.example_requests.map(({ change }) => change).toSorted(), [
      'changed_reason',
      'changed_reason',
      'changed_reason',
      'newly_allowed',
      'newly_blocked',
      'newly_modified',
      'no_longer_modified',
    ])
  })

  it('evaluates responses as well, and the allowlist on requests alone', async () => {
    await using scene = await openScene()
    await scene.addRequest('', { content: { full: { prompt: 'about birds', response: 'the falcon' } } })
    await scene.addRequest('', { content: { full: { prompt: 'about fish', response: 'fish are no birds' } } })
    await scene.addRequest('', { content: { full: { prompt: 'birds', response: 'none', withheld: ' but a falcon' } } })
    const id = await scene.startGateway({ rules: { allowlist: ['birds'], denylist: ['falcon'] } })
    await using work = scene.work('node')
    await work.run()
    assert.deepEqual(changesOf(await scene.resultOf(id)), [3, 0, 0, 0, 0, 0, 0])
    assert.ok(!scene.replayed.includes('fish are no birds'), 'a request that is denied has no response')
  })

  it('leaves out the rollout of the configuration', async () => {
    await using scene = await openScene()
    await scene.addRequest('a falcon')
    const shadow = { enabled: true, sample_percent: 100, targets: ['eu'] }
    const id = await scene.startGateway({ ...falcon, rollout: { shadow } })
    await using work = scene.work('node')
    await work.run()
    assert.equal((await scene.resultOf(id)).newly_blocked, 1)
  })

  it('knows personal data in redacted texts by their placeholders', async () => {
    await using scene = await openScene()
    await scene.addRequest('', { content: { redacted: { prompt: 'write to [EMAIL_1]' } } })
    await scene.addRequest('', { content: { redacted: { prompt: 'hello' } } })
    const id = await scene.startGateway({ rules: { redact: true } })
    await using work = scene.work('node')
    await work.run()
    const counts = await scene.resultOf(id)
    assert.deepEqual([counts.newly_modified, counts.unchanged, counts.coverage.redacted_only], [1, 1, 2])
  })

  it('asks the policies in force about what the configuration no longer denies', async () => {
    await using scene = await openScene()
    scene.inForce.push(
      policyThat('denies', {
        evaluator: 'expression',
        score: ({ text }) => ({ basisPoints: text.includes('owl') ? 10_000 : 0 }),
      }),
    )
    await scene.addRequest('an owl', decided('refuse'))
    await scene.addRequest('a sparrow', decided('refuse'))
    await scene.addRequest('an owl') // a policy that is newer than the request
    const id = await scene.startGateway(falcon)
    await using work = scene.work('node')
    await work.run()
    assert.deepEqual(changesOf(await scene.resultOf(id)), [0, 1, 0, 0, 1, 1, 0])
  })

  it('says why it does not know whether a policy in force denies a request', async () => {
    await using scene = await openScene()
    await scene.addRequest('a sparrow', decided('refuse'))
    await scene.addRequest('rejected', {
      verdict: { decision: 'not_evaluated', isEnforced: false },
      failure: { code: 'rate_limit' },
    })
    const names = [{ kind: 'variable', name: 'metadata' }] as const
    for (const [rule, reason] of [
      [{ evaluator: 'expression', names, score: () => ({ basisPoints: 0 }) }, 'metadata_missing'],
      [{ evaluator: 'judge', score: () => assert.fail('the judge was asked') }, 'judge_not_asked'],
    ] as const) {
      scene.inForce.splice(0, 1, policyThat('decides', rule))
      const id = await scene.startGateway(falcon)
      await using work = scene.work('node')
      await work.run()
      const counts = await scene.resultOf(id)
      assert.deepEqual(counts.not_evaluated_reasons, { rejected_before_checks: 1, [reason]: 1 })
      assert.deepEqual([counts.not_evaluated, counts.newly_allowed], [2, 0])
    }
  })

  it('resumes at the stored position after its node was killed in the middle, and counts nothing twice', async () => {
    await using scene = await openScene()
    for (let at = 0; at < 120; at++) await scene.addRequest(at % 10 === 0 ? `falcon ${at}` : `hello ${at}`)
    const id = await scene.startGateway(falcon)
    const queue = scene.queueOf('first')
    // A killed node saves and releases nothing after its last batch.
    const first = scene.work('first', undefined, {
      save: async (backtest, before) => backtest.done <= 50 && (await queue.save(backtest, before)),
      release: () => Promise.resolve(),
    })
    await first.run()
    const between = await scene.findGateway(id)
    assert.deepEqual([between?.status, between?.done], ['running', 50])
    scene.clock.passMs(60_000)
    await using second = scene.work('second')
    await second.run()
    const counts = await scene.resultOf(id)
    assert.deepEqual([counts.newly_blocked, counts.unchanged, counts.coverage.events], [12, 108, 120])
    await first[Symbol.asyncDispose]()
  })

  it('ends when it is cancelled', async () => {
    await using scene = await openScene()
    for (let at = 0; at < 60; at++) await scene.addRequest(`hello ${at}`)
    const id = await scene.startGateway(falcon)
    let seen = 0
    await using work = scene.work('node', async () => void (++seen === 55 && (await scene.cancelGateway(id))))
    await work.run()
    const cancelled = await scene.findGateway(id)
    assert.deepEqual([cancelled?.status, cancelled?.done], ['cancelled', 50])
    assert.equal((await scene.cancelGateway(id)).record, undefined)
  })
})

const policyThat = (name: string, rule: Partial<ActivePolicy['rule']>): ActivePolicy => ({
  ...initialContent,
  id: `pol_${name}`,
  name,
  versionId: 'polv_1',
  version: 1,
  mode: 'enforcing',
  scope: 'organization',
  rule: {
    lookBehind: 'whole',
    condition: undefined,
    evaluator: 'expression',
    names: [],
    categories: [],
    injectionPlaces: [],
    score: () => ({ basisPoints: 0 }),
    ...rule,
  },
})
