import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { close, delta, end, open, start } from '../../test/support/answers.ts'
import { createHandClock } from '../../test/support/hand-clock.ts'
import { requestBy } from '../../test/support/requests.ts'
import { Fault } from '../base/fault.ts'
import type { Principal } from '../domain/identity/principal.ts'
import { createCatalogue } from '../domain/inference/catalogue.ts'
import type { Chunk, Usage } from '../domain/inference/events.ts'
import { createUpstreamHealth } from '../domain/inference/health.ts'
import type { Admitted } from '../domain/limits/admission.ts'
import { LimitedFault } from '../domain/limits/limited-fault.ts'
import { createLease } from './billing/lease.ts'
import type { Metered } from './billing/meter.ts'
import { chatOperation } from './operations/chat.ts'
import { createRun } from './run.ts'
import { withAudit } from './record.ts'

const noLimits = { rpm: null, rpd: null, tpm: null, tpd: null, concurrent: null }
const admission: Admitted = {
  admitted: true,
  duplicate: false,
  atMs: 0,
  credits: { epoch: 'epoch_1', sliceId: 'slice_1', leftMicro: 0 },
  limitStatus: { key: noLimits, project: noLimits, organization: noLimits },
}
const rates = { input: 1, cacheRead: 1, cacheWrite: 1, output: 1, version: 'v' }
const caller: Principal = {
  kind: 'api_key',
  id: 'key_1',
  organization: { id: 'org_1', name: 'One', plan: 'free', lifetimePaidMicroUsd: 0, metered: true, createdAtMs: 0 },
  projectId: 'proj_1',
  models: null,
  networks: null,
  permissions: new Set(),
}
const answer: readonly Chunk[] = [
  { events: [start, open(0, { type: 'text' }), delta(0, 'Hello')] },
  { events: [close(0), end()] },
]
const denied = new Fault('policy', 'policy_blocked', 'Denied.')

type SceneOptions = {
  /** What the upstream sends. An error in the list is thrown. */
  readonly upstream?: readonly (Chunk | Error)[]
  /** Thrown by the checks of the request. */
  readonly denyRequest?: Fault
  /** Thrown by the guard of the answer, instead of the chunk with this index. */
  readonly denyChunk?: number
  readonly storageFault?: Fault
  readonly admit?: Fault
  /** Thrown when the budgets of the request are read at its end. */
  readonly budgetsError?: Error
}

/** The pipeline with in-memory parts that log each step. */
function createScene(options: SceneOptions = {}) {
  const steps: string[] = []
  const { clock } = createHandClock()
  const controller = new AbortController()
  const log = <T>(step: string, value: T): T => {
    steps.push(step)
    return value
  }

  const leaseParts = {
    limits: {
      settle: ({ tokens }: { tokens: number }) =>
        log(`release the slot, count ${tokens > 0 ? 'the input' : 'no'} tokens`, 'settled' as const),
    },
    heartbeat: { keep: () => ({ [Symbol.dispose]() {} }) },
    settle: async ({ outcome, micro }: { outcome: string; micro: number }) =>
      log(`settle: ${outcome}`, {
        outcome: 'answered' as const,
        micro,
        isFirst: true,
        isSliceOpen: true,
        remainingMicro: 1,
      }),
    clock,
    creditUsd: 1,
    budgets: {
      usesOf() {
        if (options.budgetsError !== undefined) throw options.budgetsError
        return undefined
      },
    },
    remaining: new Map<string, number>(),
    onUnsettled: (_: string, error: unknown) => assert.ifError(error),
  }

  async function* guarded({ chunks }: Metered, stopUpstream: () => Promise<void>): AsyncGenerator<Chunk> {
    let at = 0
    for await (const chunk of chunks) {
      if (at++ === options.denyChunk) {
        await stopUpstream()
        throw denied
      }
      yield chunk
    }
  }

  async function* answered(): AsyncGenerator<Chunk> {
    steps.push('call the upstream')
    try {
      for (const chunk of options.upstream ?? answer) {
        if (chunk instanceof Error) throw chunk
        yield chunk
      }
    } finally {
      steps.push('close the upstream call')
    }
  }

  const models = {
    catalogue: createCatalogue([
      {
        name: 'm',
        targets: [{ upstream: 'local', model: 'local-model' }],
        contextTokens: 1_000,
        maxOutputTokens: 100,
        capsOutput: false,
        price: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 },
        freeTier: true,
        createdAtMs: 0,
      },
    ]),
    providers: new Map([['local', { name: 'local', infer: answered }]]),
    health: createUpstreamHealth(clock),
    modelDirectory: { list: async () => [], find: async () => undefined },
  }
  const infer = createRun({
    installation: models,
    modelSetOf: () => models,
    storage: { requestFault: () => options.storageFault },
    admission: {
      async admit({ requestId, principal, model, expected, signal }) {
        if (options.admit) throw log('reject', options.admit)
        const terms = {
          admission,
          requestId,
          principal,
          model: model.name,
          rates,
          tokens: 110,
          micro: null,
          expected,
          signal,
        }
        return log('admit', createLease(leaseParts, terms))
      },
      count: async () => log('count the attempt', admission),
    },
    async enforce({ request }) {
      if (options.denyRequest) throw log('deny the request', options.denyRequest)
      return log('evaluate the request', {
        request,
        outputTokensLeft: 100,
        requiredCoverage: 'held_back',
        guard: guarded,
        async fail(error) {
          throw error
        },
        async [Symbol.asyncDispose]() {
          steps.push('release the quota')
        },
      })
    },
    clock,
    random: { bytes: (count) => new Uint8Array(count), fraction: () => 0 },
    onFailedCall: () => {},
    ratesOf: () => rates,
    creditUsd: 1,
    freeRequests: {
      identify: () => ({ kind: 'free', client: 'client_1', aliases: [] }),
      claim: async () =>
        log('claim the free slot', {
          keep: () => void steps.push('keep the free slot'),
          useUp: () => void steps.push('use up the free slot'),
          async [Symbol.asyncDispose]() {},
        }),
    },
    freeOutputTokens: 10,
    learnFactor: (_model, _request, { outputTokens }: Usage) => void steps.push(`learn from ${outputTokens} tokens`),
    onImplausibleUsage: () => {},
  })
  const audited = withAudit(infer, {
    journal: {
      isRequired: () => false,
      record: async (_organizationId, make) => log(`audit: ${make().failure?.code ?? 'answered'}`, true),
    },
    clock,
    content: 'none',
    redact: (text) => text,
    onEnded: () => {},
  })
  const request = requestBy('messages', { model: 'm' })
  const call = { operation: chatOperation, requestId: 'req_1', caller, request, signal: controller.signal }
  return { infer: (more: { model?: string; isFree?: boolean } = {}) => audited(callWith(more)), steps, controller }

  function callWith({ model = 'm', isFree = false }: { model?: string; isFree?: boolean }) {
    const named = { ...call.request, model }
    return isFree
      ? { ...call, request: named, caller: { kind: 'free', client: 'c', aliases: [] } as const }
      : { ...call, request: named }
  }
}

const textOf = (chunks: readonly Chunk[]): string =>
  chunks.flatMap(({ events }) => events.map((event) => (event.type === 'delta' ? event.text : ''))).join('')

describe('one request', () => {
  it('is admitted, evaluated, routed, audited once and paid for before its end is emitted', async () => {
    const scene = createScene()
    await using started = await scene.infer()
    assert.deepEqual(scene.steps, ['admit', 'evaluate the request', 'call the upstream'])
    const chunks = await Array.fromAsync(started.chunks)
    assert.equal(textOf(chunks), 'Hello')
    const last = chunks.at(-1)?.events.at(-1)
    assert.ok(last?.type === 'end' && last.receipt !== undefined)
    assert.deepEqual(scene.steps.slice(3), [
      'learn from 7 tokens',
      'audit: answered',
      'settle: answered',
      'close the upstream call',
    ])
  })

  it('is paid for also if its budgets cannot be read', async () => {
    const scene = createScene({ budgetsError: new Error('The database is away.') })
    await using started = await scene.infer()
    await Array.fromAsync(started.chunks)
    assert.ok(scene.steps.includes('settle: answered'))
  })

  it('leaves nothing to release once it is paid for', async () => {
    const scene = createScene()
    const started = await scene.infer()
    await Array.fromAsync(started.chunks)
    const before = [...scene.steps]
    await started[Symbol.asyncDispose]()
    assert.deepEqual(scene.steps, before)
  })

  it('is counted as an attempt if its model does not exist, and fails with the status of the limits', async () => {
    const scene = createScene()
    await assert.rejects(scene.infer({ model: 'unknown' }), (error) => {
      assert.ok(error instanceof LimitedFault)
      assert.deepEqual([error.code, error.limitStatus], ['model_not_found', admission.limitStatus])
      return true
    })
    assert.deepEqual(scene.steps, ['count the attempt', 'audit: model_not_found'])
  })

  it('calls no upstream while neither charges nor events can be stored', async () => {
    const storageFault = new Fault('unavailable', 'storage_full', 'Full.')
    const scene = createScene({ storageFault })
    await assert.rejects(scene.infer(), storageFault)
    assert.deepEqual(scene.steps, ['audit: storage_full'])
  })

  it('is not evaluated if a limit rejects it', async () => {
    const scene = createScene({ admit: new Fault('rate_limit', 'rate_limit_exceeded', 'Wait.') })
    await assert.rejects(scene.infer(), { code: 'rate_limit_exceeded' })
    assert.deepEqual(scene.steps, ['reject', 'audit: rate_limit_exceeded'])
  })

  it('uses the free slot only once the upstream has started to answer', async () => {
    const scene = createScene()
    await using started = await scene.infer({ isFree: true })
    assert.equal(started.admission, null)
    assert.deepEqual(scene.steps, [
      'claim the free slot',
      'evaluate the request',
      'call the upstream',
      'keep the free slot',
    ])
  })
})

describe('a free request that is not answered', () => {
  it('is used up if it is denied', async () => {
    const scene = createScene({ denyRequest: denied })
    await assert.rejects(scene.infer({ isFree: true }), { code: 'policy_blocked' })
    assert.deepEqual(scene.steps.slice(0, 3), ['claim the free slot', 'deny the request', 'use up the free slot'])
  })

  it('is not used up if the upstream fails', async () => {
    const scene = createScene({ upstream: [new Fault('upstream_timeout', 'upstream_timeout', 'Slow.')] })
    await assert.rejects(scene.infer({ isFree: true }), { kind: 'upstream_timeout' })
    assert.ok(!scene.steps.includes('use up the free slot'))
  })

  it('is used up if the upstream rejects it, or its client goes away', async () => {
    const rejected = createScene({ upstream: [new Fault('validation', 'invalid_parameter', 'No.')] })
    await assert.rejects(rejected.infer({ isFree: true }), { code: 'invalid_parameter' })
    assert.ok(rejected.steps.includes('use up the free slot'))
    const gone = createScene({ upstream: [new Fault('upstream_failed', 'upstream_error', 'Aborted.')] })
    gone.controller.abort()
    await assert.rejects(gone.infer({ isFree: true }))
    assert.ok(gone.steps.includes('use up the free slot'))
  })
})

describe('a request that does not reach its end', () => {
  it('releases its slot and counts with its input only if the request is denied', async () => {
    const scene = createScene({ denyRequest: denied })
    await assert.rejects(scene.infer(), (error) => error instanceof LimitedFault && error.code === 'policy_blocked')
    const steps = ['admit', 'deny the request', 'release the slot, count the input tokens', 'audit: policy_blocked']
    assert.deepEqual(scene.steps, steps)
  })

  it('releases slot and quota and is not charged if the upstream fails before its first chunk', async () => {
    const scene = createScene({ upstream: [new Fault('upstream_timeout', 'upstream_timeout', 'Slow.')] })
    await assert.rejects(scene.infer(), (error) => error instanceof LimitedFault && error.kind === 'upstream_timeout')
    assert.deepEqual(scene.steps.slice(2), [
      'call the upstream',
      'close the upstream call',
      'release the quota',
      'release the slot, count no tokens',
      'audit: upstream_timeout',
    ])
  })

  it('is settled without a charge if the upstream fails in the middle of the answer', async () => {
    const scene = createScene({
      upstream: [...answer.slice(0, 1), new Fault('upstream_failed', 'upstream_error', 'Broken.')],
    })
    {
      await using started = await scene.infer()
      await assert.rejects(Array.fromAsync(started.chunks), { code: 'upstream_error' })
    }
    assert.deepEqual(scene.steps.slice(3), [
      'close the upstream call',
      'settle: broken_off',
      'audit: upstream_error',
      'release the quota',
    ])
  })

  it('stops the upstream, and is settled without a charge, if the answer is denied', async () => {
    const scene = createScene({ denyChunk: 1 })
    {
      await using started = await scene.infer()
      await assert.rejects(Array.fromAsync(started.chunks), denied)
    }
    assert.ok(scene.steps.includes('close the upstream call'))
    assert.deepEqual(
      scene.steps.filter((step) => /settle|audit|release/.test(step)),
      ['audit: policy_blocked', 'settle: broken_off', 'release the quota'],
    )
  })

  it('is charged for what was generated if the caller disconnects in the middle of the answer', async () => {
    const scene = createScene()
    {
      await using started = await scene.infer()
      for await (const chunk of started.chunks) {
        assert.equal(textOf([chunk]), 'Hello')
        break
      }
      scene.controller.abort()
    }
    assert.deepEqual(scene.steps.filter((step) => /settle|audit|release|close/.test(step)).toSorted(), [
      'audit: caller_left',
      'close the upstream call',
      'release the quota',
      'settle: aborted',
    ])
  })

  it('stops the upstream and is settled if the answer is never read', async () => {
    const scene = createScene()
    const started = await scene.infer()
    scene.controller.abort()
    await started[Symbol.asyncDispose]()
    assert.deepEqual(scene.steps.filter((step) => /settle|audit|release|close/.test(step)).toSorted(), [
      'audit: caller_left',
      'close the upstream call',
      'release the quota',
      'settle: aborted',
    ])
  })
})
