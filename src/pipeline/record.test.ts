import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Fault } from '../base/fault.ts'
import type { EventFacts } from '../domain/audit/event/facts.ts'
import type { InferenceEvent, Chunk, Receipt } from '../domain/inference/events.ts'
import type { OperationCall } from './operation-call.ts'
import { chatOperation } from './operations/chat.ts'
import type { StartedOperation } from './started-operation.ts'
import { withAudit, type RecordParts } from './record.ts'
import { noFieldRoles } from '../domain/inference/field-roles.ts'
import type { InferenceRequest } from '../domain/inference/request.ts'

const usage = {
  inputTokens: 5,
  cacheReadTokens: 2,
  cacheWriteTokens: 0,
  outputTokens: 3,
  reasoningTokens: 0,
  source: 'reported',
} as const
const receipt = { creditsUsed: 4, costUsd: 0.004, remainingCredits: 10 }
const start: InferenceEvent = { type: 'start', model: 'm' }
const delta: InferenceEvent = { type: 'delta', block: 0, text: 'the answer' }
const end: InferenceEvent = { type: 'end', stopReason: 'end', usage }

const baseCall: OperationCall<InferenceRequest> = {
  operation: chatOperation,
  requestId: 'req_1',
  caller: {
    kind: 'api_key',
    id: 'key_1',
    organization: {
      id: 'org_1',
      name: 'One',
      plan: 'free',
      lifetimePaidMicroUsd: 0,
      metered: true,
      createdAtMs: 0,
    },
    projectId: 'proj_1',
    models: null,
    networks: null,
    permissions: new Set(),
  },
  request: {
    model: 'm',
    stream: true,
    messages: [{ role: 'user', parts: [{ type: 'text', text: 'the question' }] }],
    stop: [],
    tools: [],
    user: 'ada',
    flaggedCategories: [],
    raw: { dialect: 'messages', body: {}, headers: {}, roles: noFieldRoles },
  },
  origin: {
    endpoint: { method: 'POST', path: '/v1/messages', status: 200 },
    address: '192.0.2.7',
    userAgent: 'curl',
  },
  signal: new AbortController().signal,
}

const allowed = { decision: 'allow', isEnforced: true } as const

type SceneParts = Partial<RecordParts> & { readonly isRequired?: boolean | Promise<boolean> }

/** An inference pipeline that yields these chunks, and an audit log and a ledger whose writes the test can delay or fail. */
function scene(
  script: readonly (readonly InferenceEvent[] | Error)[],
  { isRequired = false, ...parts }: SceneParts = {},
) {
  const facts: EventFacts[] = []
  const ids: (string | undefined)[] = []
  let durable = Promise.withResolvers<boolean>()
  durable.resolve(true)
  let paid = Promise.withResolvers<Receipt>()
  paid.resolve(receipt)
  let disposals = 0
  const settled: string[] = []
  const ended: (readonly [string | undefined, number | undefined])[] = []
  const infer = withAudit(
    async ({ onVerdict, beforeModels }) => {
      const [first] = script
      if (script.length === 1 && first instanceof Error) throw first
      await beforeModels?.()
      onVerdict?.(() => allowed)
      return {
        model: 'm',
        upstream: 'local',
        chunks: yieldAll(script),
        bill: {
          quote: () => receipt,
          pay() {
            settled.push('paid')
            return paid.promise
          },
          async waive() {
            settled.push('waived')
          },
          charged: () => (disposals > 0 ? { usage, cost: receipt } : undefined),
        },
        dropped: new Set<string>(),
        requiredCoverage: 'held_back',
        admission: null,
        async [Symbol.asyncDispose]() {
          disposals += 1
        },
      }
    },
    {
      journal: {
        isRequired: () => isRequired,
        async record(_organizationId, make, options) {
          facts.push(make())
          ids.push(options?.id)
          return durable.promise
        },
      },
      clock: { nowMs: () => 1_000, monotonicMs: () => 7, after: () => () => {} },
      content: 'none',
      redact: (text) => text.replace('the', '[x]'),
      onEnded: ({ end: last, failure, charged }) =>
        void ended.push([last?.stopReason ?? failure, charged?.cost.creditsUsed]),
      ...parts,
    },
  )
  return {
    infer: (change: Partial<OperationCall> = {}): Promise<StartedOperation> => infer({ ...baseCall, ...change }),
    facts,
    ids,
    disposals: () => disposals,
    /** The calls of the bill: `paid` or `waived`. */
    settled,
    /** The reported ends: the stop reason or the failure, and the credits that were charged. */
    ended,
    /** Delays every write of the log until `releaseLog` or `breakLog` is called. */
    holdLog: () => void (durable = Promise.withResolvers()),
    releaseLog: (isWritten = true) => durable.resolve(isWritten),
    breakLog: (error: Error) => durable.reject(error),
    /** The same for the ledger. */
    holdLedger: () => void (paid = Promise.withResolvers()),
    releaseLedger: () => paid.resolve(receipt),
    breakLedger: (error: Error) => paid.reject(error),
  }
}

async function* yieldAll(script: readonly (readonly InferenceEvent[] | Error)[]): AsyncGenerator<Chunk> {
  for (const events of script) {
    if (events instanceof Error) throw events
    yield { events }
  }
}

const read = async (answer: StartedOperation): Promise<Chunk[]> => Array.fromAsync(answer.chunks)

describe('the audit event of a request', () => {
  it('names the caller, its address, the model, the usage and the cost', async () => {
    const { infer, facts } = scene([[start, delta, end]])
    await read(await infer())
    assert.equal(facts.length, 1)
    const { code, organizationId, requestId, projectId, actor, call, verdict, model, content } =
      facts[0] ?? assert.fail()
    assert.deepEqual(verdict, allowed)
    assert.deepEqual(
      [code, organizationId, requestId, projectId],
      ['gateway.request.decided', 'org_1', 'req_1', 'proj_1'],
    )
    assert.deepEqual(actor, { kind: 'api_key', userId: 'ada', credentialId: 'key_1' })
    assert.deepEqual(
      [call?.path, call?.address, call?.userAgent, call?.status],
      ['/v1/messages', '192.0.2.7', 'curl', 200],
    )
    assert.deepEqual(
      [model?.provider, model?.inputTokens, model?.outputTokens, model?.creditsUsed, model?.costUsd],
      ['local', 7, 3, 4, 0.004],
    )
    assert.equal(content, undefined)
  })

  it('is durable before the end event is emitted, and only the end event waits for it', async () => {
    const { infer, holdLog, releaseLog } = scene([[start], [delta], [end]])
    holdLog()
    const chunks = (await infer()).chunks[Symbol.asyncIterator]()
    await chunks.next()
    await chunks.next()
    let isEmitted = false
    const last = chunks.next().then(() => (isEmitted = true))
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(isEmitted, false)
    releaseLog()
    await last
  })

  it('is written while the answer is paid for, and the end event waits for both', async () => {
    const { infer, facts, holdLedger, releaseLedger } = scene([[start], [end]])
    holdLedger()
    const chunks = (await infer()).chunks[Symbol.asyncIterator]()
    await chunks.next()
    let isEmitted = false
    const last = chunks.next().then((step) => {
      isEmitted = true
      return step
    })
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual([facts.length, isEmitted], [1, false])
    releaseLedger()
    const { value } = await last
    assert.deepEqual(value, { events: [{ ...end, receipt }] })
  })

  it('is corrected if the payment fails, and the end event is not emitted', async () => {
    const { infer, facts, holdLedger, breakLedger } = scene([[start], [end]])
    holdLedger()
    const chunks = (await infer()).chunks[Symbol.asyncIterator]()
    await chunks.next()
    const last = chunks.next()
    breakLedger(new Fault('unavailable', 'credit_balance_unavailable', 'no ledger'))
    await assert.rejects(last, /no ledger/)
    assert.deepEqual(
      facts.map(({ failure }) => failure?.code),
      [undefined, 'credit_balance_unavailable'],
    )
  })

  it('is durable before anything is charged if audit is required', async () => {
    const { infer, settled, holdLog, releaseLog } = scene([[start], [end]], { isRequired: true })
    holdLog()
    const chunks = (await infer()).chunks[Symbol.asyncIterator]()
    await chunks.next()
    const last = chunks.next()
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(settled, [])
    releaseLog()
    await last
    assert.deepEqual(settled, ['paid'])
  })

  it('withholds the end event if it is required and cannot be written, and the answer is not charged', async () => {
    const { infer, settled, holdLog, breakLog } = scene([[start], [end]], { isRequired: true })
    holdLog()
    const chunks = (await infer()).chunks[Symbol.asyncIterator]()
    await chunks.next()
    const last = chunks.next()
    breakLog(new Fault('unavailable', 'audit_unavailable', 'no log'))
    await assert.rejects(last, /no log/)
    assert.deepEqual(settled, ['waived'])
  })

  it('rejects the request before any model is called if audit is required and the log is unavailable', async () => {
    const unavailable = Promise.reject(new Fault('unavailable', 'audit_unavailable', 'no log'))
    const { infer, facts, settled, holdLog, breakLog } = scene([[start], [end]], { isRequired: unavailable })
    holdLog()
    const rejected = infer()
    breakLog(new Fault('unavailable', 'audit_unavailable', 'still no log'))
    await assert.rejects(rejected, /^Fault: no log/)
    assert.deepEqual(settled, [])
    assert.deepEqual(
      facts.map(({ failure }) => failure?.code),
      ['audit_unavailable'],
    )
  })

  it('does not replace the reason of a request that failed because storage is unavailable', async () => {
    const failure = new Fault('unavailable', 'storage_unavailable', 'unreachable')
    const { infer, holdLog, breakLog } = scene([failure])
    holdLog()
    const rejected = infer()
    breakLog(new Fault('unavailable', 'audit_unavailable', 'no log'))
    await assert.rejects(rejected, failure)
  })

  it('is not corrected if it is lost, so that one request counts as one lost event', async () => {
    const { infer, facts, holdLog, releaseLog, holdLedger, breakLedger } = scene([[start], [end]])
    holdLog()
    holdLedger()
    const chunks = (await infer()).chunks[Symbol.asyncIterator]()
    await chunks.next()
    const last = chunks.next()
    releaseLog(false)
    breakLedger(new Fault('unavailable', 'storage_full', 'no ledger'))
    await assert.rejects(last, /no ledger/)
    assert.equal(facts.length, 1)
  })

  it('is written if the request fails before or after its first chunk, and the failure is rethrown', async () => {
    const fault = new Fault('upstream_failed', 'upstream_error', 'broken')
    const before = scene([fault])
    await assert.rejects(before.infer(), /broken/)
    const after = scene([[start], fault])
    await assert.rejects(read(await after.infer()), /broken/)
    for (const { facts } of [before, after])
      assert.deepEqual(
        facts.map(({ failure }) => failure?.code),
        ['upstream_error'],
      )
    assert.equal(after.facts[0]?.model?.provider, 'local')
  })

  it('reports caller_left once if the caller disconnects, and not after a complete answer', async () => {
    const left = scene([[start], [end]])
    const answer = await left.infer()
    await answer.chunks[Symbol.asyncIterator]().next()
    await answer[Symbol.asyncDispose]()
    assert.deepEqual(
      left.facts.map(({ failure }) => failure?.code),
      ['caller_left'],
    )
    assert.equal(left.disposals(), 1)
    const { model } = left.facts[0] ?? assert.fail()
    assert.deepEqual([model?.inputTokens, model?.outputTokens, model?.creditsUsed], [7, 3, 4])
    const stayed = scene([[start, end]])
    const whole = await stayed.infer()
    await read(whole)
    await whole[Symbol.asyncDispose]()
    assert.deepEqual(
      stayed.facts.map(({ failure }) => failure),
      [undefined],
    )
  })

  it('contains the policy object that the caller received, under the event id in that object', async () => {
    const policy = {
      decision: 'refuse',
      enforced: true,
      reason_code: 'REFUSE_LEGAL',
      policy_id: 'pol_1',
      version: 3,
      triggered_categories: ['hate'],
      event_id: 'evt_1',
    }
    const denied = scene([new Fault('policy', 'invalid_request', 'no', { policy })])
    await assert.rejects(denied.infer(), /no/)
    const ended = scene([[start, { ...end, type: 'end', policy: { ...policy, enforced: false } }]])
    await read(await ended.infer())
    assert.deepEqual([denied.ids, ended.ids], [['evt_1'], ['evt_1']])
    assert.deepEqual(denied.facts[0]?.verdict, {
      decision: 'refuse',
      isEnforced: true,
      reasonCode: 'REFUSE_LEGAL',
      cause: undefined,
      rolloutMode: undefined,
      policy: { id: 'pol_1', version: 3 },
      categoriesTriggered: ['hate'],
    })
  })

  it('has the decision not_evaluated and no texts if the request did not reach the checks', async () => {
    const fault = new Fault('rate_limit', 'rate_limit_exceeded', 'Slow down.')
    const { infer, facts } = scene([fault], { content: 'full' })
    await assert.rejects(infer())
    assert.deepEqual(facts[0]?.verdict, { decision: 'not_evaluated', isEnforced: false })
    assert.equal(facts[0]?.content, undefined)
  })

  it('is not written for an anonymous free request', async () => {
    const { infer, facts } = scene([[start, end]])
    await read(await infer({ caller: { kind: 'free', client: 'c', aliases: [] } }))
    assert.deepEqual(facts, [])
  })

  it('carries the texts at the configured level: none, redacted or in full', async () => {
    const contentOf = async (parts: Partial<RecordParts>) => {
      const { infer, facts } = scene([[start, delta], [end]], parts)
      await read(await infer())
      return facts[0]?.content
    }
    const outline = { messages: [{ role: 'user', start: 0 }], parameters: '{}', lossy: [] }
    const full = { prompt: 'user: the question', outline, response: 'the answer' }
    const redacted = { prompt: 'user: [x] question', outline, response: '[x] answer' }
    assert.equal(await contentOf({ content: 'none' }), undefined)
    assert.deepEqual(await contentOf({ content: 'full' }), { full, redacted })
    assert.deepEqual(await contentOf({ content: 'redacted' }), { redacted })
  })

  it('replaces half a surrogate pair at the end of a truncated answer', async () => {
    const { infer, facts } = scene([[start, { ...delta, text: 'half \ud83d' }, end]], { content: 'full' })
    await read(await infer())
    assert.equal(facts[0]?.content?.full?.response, 'half \ufffd')
  })
})

describe('the end of a request is reported for the metrics', () => {
  const left = AbortSignal.abort(new Error('the caller disconnected'))
  const broken = new Fault('upstream_failed', 'upstream_error', 'no')

  it('with the stop reason of a complete answer', async () => {
    const { infer, ended } = scene([[start], [end]])
    await using answer = await infer()
    assert.deepEqual(ended, [])
    await read(answer)
    assert.deepEqual(ended, [['end', undefined]])
  })

  it('as a failure if the request was rejected or its answer broke off', async () => {
    const rejected = scene([new Fault('rate_limit', 'rate_limit_exceeded', 'no')])
    await assert.rejects(rejected.infer())
    assert.deepEqual(rejected.ended, [['rate_limit', undefined]])
    const interrupted = scene([[start], broken])
    await assert.rejects(read(await interrupted.infer()))
    assert.deepEqual(interrupted.ended, [['upstream_failed', undefined]])
  })

  it('as a failure if the answer could not be paid for, because its end is not sent', async () => {
    const { infer, ended, breakLedger, holdLedger } = scene([[start], [end]])
    holdLedger()
    breakLedger(new Fault('unavailable', 'credit_balance_unavailable', 'no'))
    await using answer = await infer()
    await assert.rejects(read(answer))
    assert.deepEqual(ended, [['unavailable', undefined]])
  })

  it('as left by its caller, with what was charged, whatever error that caused', async () => {
    const unread = scene([[start], [end]])
    await (await unread.infer())[Symbol.asyncDispose]()
    assert.deepEqual(unread.ended, [['caller_left', 4]])
    const aborted = scene([[start], broken])
    await assert.rejects(read(await aborted.infer({ signal: left })))
    assert.deepEqual(aborted.ended, [['caller_left', undefined]])
  })

  it('once, also for a request that is not audited', async () => {
    const { infer, ended } = scene([[start], [end]], { journal: null })
    const answer = await infer()
    await read(answer)
    await answer[Symbol.asyncDispose]()
    assert.deepEqual(ended, [['end', undefined]])
  })
})
