import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { close, delta, end, open, start } from '../../test/support/answers.ts'
import { createHandClock } from '../../test/support/hand-clock.ts'
import { requestBy } from '../../test/support/requests.ts'
import { Fault, type FaultKind } from '../base/fault.ts'
import type { Chunk } from '../domain/inference/events.ts'
import { createUpstreamHealth } from '../domain/inference/health.ts'
import type { Provider, ProviderCall } from '../domain/inference/provider.ts'
import { chatOperation } from './operations/chat.ts'
import { route } from './route.ts'

const fault = (kind: FaultKind): Fault => new Fault(kind, 'upstream_error', kind)
const outOfQuota = new Fault('upstream_failed', 'upstream_quota_exhausted', 'out of quota', { isPermanent: true })
const busy = new Fault('upstream_overloaded', 'upstream_busy', 'busy')
const answer: readonly Chunk[] = [
  { events: [start, open(0, { type: 'text' })] },
  { events: [delta(0, 'Hi'), close(0), end()] },
]

/** What one call to an upstream does: it fails with an error, or sends chunks, of which one may be an error. */
type Behaviour = Error | readonly (Chunk | Error)[]

/** A model with one target per upstream. Each upstream has a list of behaviours, one per call; the last one repeats. */
function createScene(behaviours: Readonly<Record<string, readonly Behaviour[]>>) {
  const { clock, pass } = createHandClock()
  const calls: string[] = []
  const closed: string[] = []
  const mayQueue: boolean[] = []
  const failed: string[] = []
  const controller = new AbortController()

  const providerOf = (name: string, script: readonly Behaviour[]): Provider => {
    let count = 0
    return {
      name,
      async *infer({ model, mayQueue: isAllowed }: ProviderCall) {
        calls.push(model)
        mayQueue.push(isAllowed)
        const behaviour = script[Math.min(count++, script.length - 1)] ?? []
        try {
          if (behaviour instanceof Error) throw behaviour
          for (const chunk of behaviour) {
            if (chunk instanceof Error) throw chunk
            yield chunk
          }
        } finally {
          closed.push(model)
        }
      },
    }
  }
  const upstreams = Object.keys(behaviours)
  const health = createUpstreamHealth(clock)
  const parts = {
    providers: new Map(upstreams.map((name) => [name, providerOf(name, behaviours[name] ?? [])])),
    health,
    clock,
    random: { bytes: (count: number) => new Uint8Array(count), fraction: () => 1 },
    onFailedCall: ({ upstream }: { upstream: string }, { kind }: Fault) => void failed.push(`${upstream}: ${kind}`),
  }
  const model = {
    name: 'm',
    targets: upstreams.map((upstream) => ({ upstream, model: `${upstream}-model` })),
    contextTokens: 1_000,
    maxOutputTokens: 100,
    capsOutput: false,
    price: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 },
    freeTier: false,
    createdAtMs: 0,
  }
  const call = {
    operation: chatOperation,
    request: requestBy('messages'),
    outputLimit: { tokens: 100, isExplicit: true },
    requestId: 'req_1',
    signal: controller.signal,
    onDropped() {},
  }
  return { start: () => route(parts, model, call), calls, mayQueue, closed, failed, health, controller, pass }
}

const readAll = async (chunks: AsyncIterable<Chunk>): Promise<Chunk[]> => Array.fromAsync(chunks)

describe('the route of a request', () => {
  it('leads to the first target, under the upstream’s own name for the model', async () => {
    const scene = createScene({ one: [answer], two: [answer] })
    await using started = await scene.start()
    assert.deepEqual(started.target, { upstream: 'one', model: 'one-model' })
    assert.deepEqual(await readAll(started.chunks), answer)
    assert.deepEqual(scene.calls, ['one-model'])
  })

  for (const kind of ['upstream_failed', 'upstream_timeout', 'upstream_overloaded'] as const) {
    it(`falls back to the next target after ${kind}, and reports the failed call`, async () => {
      const scene = createScene({ one: [fault(kind)], two: [answer] })
      await using started = await scene.start()
      assert.equal(started.target.upstream, 'two')
      assert.deepEqual(await readAll(started.chunks), answer)
      assert.deepEqual(scene.failed, [`one: ${kind}`])
    })
  }

  it('reports a request that the upstream rejected without a reason, and no other rejection', async () => {
    const rejection = (details: object) => new Fault('validation', 'upstream_rejected', 'no', details)
    const scene = createScene({ one: [rejection({}), rejection({ isUnexplained: true })] })
    await assert.rejects(scene.start(), { kind: 'validation' })
    assert.deepEqual(scene.failed, [])
    await assert.rejects(scene.start(), { kind: 'validation' })
    assert.deepEqual(scene.failed, ['one: validation'])
  })

  it('falls back if the account at a target is out of quota, and skips that target for a minute', async () => {
    const scene = createScene({ one: [outOfQuota], two: [answer] })
    await using first = await scene.start()
    assert.equal(first.target.upstream, 'two')
    assert.equal(scene.health.isCoolingDown('one'), true)
    await using second = await scene.start()
    assert.equal(second.target.upstream, 'two')
    assert.deepEqual(scene.calls, ['one-model', 'two-model', 'two-model'])
    await scene.pass(60_000)
    assert.equal(scene.health.isCoolingDown('one'), false)
  })

  it('does not call the last target again if its account is out of quota', async () => {
    const scene = createScene({ one: [outOfQuota, answer] })
    await assert.rejects(scene.start(), { code: 'upstream_quota_exhausted' })
    assert.deepEqual(scene.calls, ['one-model'])
  })

  it('lets only a call to the last target wait in a queue', async () => {
    const scene = createScene({ one: [busy], two: [answer] })
    await using _started = await scene.start()
    assert.deepEqual(scene.mayQueue, [false, true])
  })

  it('does not count calls of the gateway’s own limit as failures of the upstream', async () => {
    const scene = createScene({ one: [busy] })
    for (let at = 0; at < 5; at++) await assert.rejects(scene.start(), { code: 'upstream_busy' })
    assert.equal(scene.health.isCoolingDown('one'), false)
  })

  it('falls back if the stream of a target ends before its first chunk', async () => {
    const scene = createScene({ one: [[]], two: [answer] })
    await using started = await scene.start()
    assert.equal(started.target.upstream, 'two')
    assert.deepEqual(scene.failed, ['one: upstream_failed'])
  })

  it('calls the last target a second time after a pause', async () => {
    const scene = createScene({ one: [fault('upstream_failed')], two: [fault('upstream_failed'), answer] })
    const starting = scene.start()
    await scene.pass(0)
    assert.deepEqual(scene.calls, ['one-model', 'two-model'])
    await scene.pass(250)
    await using started = await starting
    assert.equal(started.target.upstream, 'two')
    assert.deepEqual(scene.calls, ['one-model', 'two-model', 'two-model'])
  })

  for (const kind of ['upstream_timeout', 'upstream_overloaded'] as const) {
    it(`does not call the last target again after ${kind}: whether to wait is the caller’s choice`, async () => {
      const scene = createScene({ one: [fault(kind), answer] })
      await assert.rejects(scene.start(), { kind })
      assert.deepEqual(scene.calls, ['one-model'])
    })
  }

  it('fails with the fault of the last call if all calls fail', async () => {
    const scene = createScene({ one: [fault('upstream_overloaded')], two: [fault('upstream_timeout')] })
    await assert.rejects(scene.start(), { kind: 'upstream_timeout' })
    assert.deepEqual(scene.failed, ['one: upstream_overloaded', 'two: upstream_timeout'])
  })

  it('does not fall back if the request itself is at fault', async () => {
    const scene = createScene({ one: [fault('validation')], two: [answer] })
    await assert.rejects(scene.start(), { kind: 'validation' })
    assert.deepEqual([scene.calls, scene.failed], [['one-model'], []])
  })

  it('does not fall back after the first chunk, because the caller may have seen it', async () => {
    const scene = createScene({ one: [[...answer.slice(0, 1), fault('upstream_failed')]], two: [answer] })
    await using started = await scene.start()
    await assert.rejects(readAll(started.chunks), { kind: 'upstream_failed' })
    assert.deepEqual(scene.calls, ['one-model'])
  })

  it('ends when the caller has disconnected', async () => {
    const scene = createScene({ one: [fault('upstream_failed')], two: [answer] })
    scene.controller.abort()
    await assert.rejects(scene.start(), { kind: 'upstream_failed' })
    assert.deepEqual(scene.calls, ['one-model'])
  })

  it('stops the call when the answer is disposed of before its end', async () => {
    const scene = createScene({ one: [answer] })
    const started = await scene.start()
    assert.deepEqual(scene.closed, [])
    await started[Symbol.asyncDispose]()
    assert.deepEqual(scene.closed, ['one-model'])
  })
})

describe('a target in cooldown', () => {
  const overloaded = fault('upstream_overloaded')

  it('is skipped after three failures in a row, until the cooldown is over', async () => {
    const scene = createScene({ one: [overloaded, overloaded, overloaded, answer], two: [answer] })
    for (let request = 0; request < 4; request++) {
      await using _answer = await scene.start()
    }
    const [one, two] = ['one-model', 'two-model']
    assert.deepEqual(scene.calls, [one, two, one, two, one, two, two])
    await scene.pass(15_000)
    await using started = await scene.start()
    assert.equal(started.target.upstream, 'one')
  })

  it('is called even if every target is in cooldown', async () => {
    const scene = createScene({ one: [answer], two: [answer] })
    for (const upstream of ['one', 'one', 'one', 'two', 'two', 'two']) scene.health.failed(upstream)
    await using started = await scene.start()
    assert.equal(started.target.upstream, 'one')
  })

  it('does not result from faults of the request', async () => {
    const scene = createScene({ one: [fault('validation')] })
    for (let request = 0; request < 3; request++) await assert.rejects(scene.start())
    assert.equal(scene.health.isCoolingDown('one'), false)
  })
})
