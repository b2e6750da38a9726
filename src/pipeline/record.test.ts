import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Fault } from '../base/fault.ts'
import type { EventFacts } from '../domain/audit/event/facts.ts'
import type { InferenceEvent, Chunk, Receipt } from '../domain/inference/events.ts'
import type { InferenceCall } from './inference-call.ts'
import type { InferenceAnswer } from './infer.ts'
import { withAudit, type RecordParts } from './record.ts'
import { noFieldRoles } from '../domain/inference/field-roles.ts'

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

const asking: InferenceCall = {
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

/** A road that answers with these pieces, and a log that takes its time. */
function scene(
  pieces: readonly (readonly InferenceEvent[] | Error)[],
  { isRequired = false, ...parts }: SceneParts = {},
) {
  const facts: EventFacts[] = []
  const ids: (string | undefined)[] = []
  let durable = Promise.withResolvers<boolean>()
  durable.resolve(true)
  let paid = Promise.withResolvers<Receipt>()
  paid.resolve(receipt)
  let closed = 0
  const settled: string[] = []
  const infer = withAudit(
    async ({ onVerdict, beforeModels }) => {
      const [first] = pieces
      if (pieces.length === 1 && first instanceof Error) throw first
      await beforeModels?.()
      onVerdict?.(allowed)
      return {
        model: 'm',
        upstream: 'local',
        chunks: yieldAll(pieces),
        bill: {
          quote: () => receipt,
          pay() {
            settled.push('paid')
            return paid.promise
          },
          async waive() {
            settled.push('waived')
          },
          charged: () => (closed > 0 ? { usage, cost: receipt } : undefined),
        },
        dropped: new Set<string>(),
        admission: null,
        async [Symbol.asyncDispose]() {
          closed += 1
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
      ...parts,
    },
  )
  return {
    infer: (change: Partial<InferenceCall> = {}): Promise<InferenceAnswer> => infer({ ...asking, ...change }),
    facts,
    ids,
    closed: () => closed,
    /** What became of the bill. */
    settled,
    /** From now on the log is slow, until it is told otherwise. */
    holdLog: () => void (durable = Promise.withResolvers()),
    releaseLog: (isKept = true) => durable.resolve(isKept),
    breakLog: (error: Error) => durable.reject(error),
    /** The same for the ledger. */
    holdLedger: () => void (paid = Promise.withResolvers()),
    releaseLedger: () => paid.resolve(receipt),
    breakLedger: (error: Error) => paid.reject(error),
  }
}

async function* yieldAll(pieces: readonly (readonly InferenceEvent[] | Error)[]): AsyncGenerator<Chunk> {
  for (const events of pieces) {
    if (events instanceof Error) throw events
    yield { events }
  }
}

const read = async (answer: InferenceAnswer): Promise<Chunk[]> => Array.fromAsync(answer.chunks)

describe('the record of a request', () => {
  it('says who asked which model from where, what it used and what it cost', async () => {
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

  it('is durable before the end of the answer is given, and only the end waits for it', async () => {
    const { infer, holdLog, releaseLog } = scene([[start], [delta], [end]])
    holdLog()
    const pieces = (await infer()).chunks[Symbol.asyncIterator]()
    await pieces.next()
    await pieces.next()
    let isGiven = false
    const last = pieces.next().then(() => (isGiven = true))
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(isGiven, false)
    releaseLog()
    await last
  })

  it('is written while the answer is paid for, and the end waits for both', async () => {
    const { infer, facts, holdLedger, releaseLedger } = scene([[start], [end]])
    holdLedger()
    const pieces = (await infer()).chunks[Symbol.asyncIterator]()
    await pieces.next()
    let isGiven = false
    const last = pieces.next().then((step) => {
      isGiven = true
      return step
    })
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual([facts.length, isGiven], [1, false])
    releaseLedger()
    const { value } = await last
    assert.deepEqual(value, { events: [{ ...end, receipt }] })
  })

  it('is corrected where the answer could not be paid for, whose end then never comes', async () => {
    const { infer, facts, holdLedger, breakLedger } = scene([[start], [end]])
    holdLedger()
    const pieces = (await infer()).chunks[Symbol.asyncIterator]()
    await pieces.next()
    const last = pieces.next()
    breakLedger(new Fault('unavailable', 'credit_balance_unavailable', 'no ledger'))
    await assert.rejects(last, /no ledger/)
    assert.deepEqual(
      facts.map(({ failure }) => failure?.code),
      [undefined, 'credit_balance_unavailable'],
    )
  })

  it('is durable before anything is charged, where the answer is refused without it', async () => {
    const { infer, settled, holdLog, releaseLog } = scene([[start], [end]], { isRequired: true })
    holdLog()
    const pieces = (await infer()).chunks[Symbol.asyncIterator]()
    await pieces.next()
    const last = pieces.next()
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(settled, [])
    releaseLog()
    await last
    assert.deepEqual(settled, ['paid'])
  })

  it('keeps the end of an answer back where it cannot be written, and the answer is not charged', async () => {
    const { infer, settled, holdLog, breakLog } = scene([[start], [end]], { isRequired: true })
    holdLog()
    const pieces = (await infer()).chunks[Symbol.asyncIterator]()
    await pieces.next()
    const last = pieces.next()
    breakLog(new Fault('unavailable', 'audit_unavailable', 'no log'))
    await assert.rejects(last, /no log/)
    assert.deepEqual(settled, ['waived'])
  })

  it('is asked for before any model is, where the answer would be refused without it', async () => {
    const gone = Promise.reject(new Fault('unavailable', 'audit_unavailable', 'no log'))
    const { infer, facts, settled, holdLog, breakLog } = scene([[start], [end]], { isRequired: gone })
    holdLog()
    const refused = infer()
    breakLog(new Fault('unavailable', 'audit_unavailable', 'still no log'))
    await assert.rejects(refused, /^Fault: no log/)
    assert.deepEqual(settled, [])
    assert.deepEqual(
      facts.map(({ failure }) => failure?.code),
      ['audit_unavailable'],
    )
  })

  it('is not corrected where it is lost: one request is one lost event', async () => {
    const { infer, facts, holdLog, releaseLog, holdLedger, breakLedger } = scene([[start], [end]])
    holdLog()
    holdLedger()
    const pieces = (await infer()).chunks[Symbol.asyncIterator]()
    await pieces.next()
    const last = pieces.next()
    releaseLog(false)
    breakLedger(new Fault('unavailable', 'storage_full', 'no ledger'))
    await assert.rejects(last, /no ledger/)
    assert.equal(facts.length, 1)
  })

  it('tells of requests that failed before and after they began, and passes the failure on', async () => {
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

  it('tells of a caller who left, once, and not of one who stayed to the end', async () => {
    const left = scene([[start], [end]])
    const answer = await left.infer()
    await answer.chunks[Symbol.asyncIterator]().next()
    await answer[Symbol.asyncDispose]()
    assert.deepEqual(
      left.facts.map(({ failure }) => failure?.code),
      ['caller_left'],
    )
    assert.equal(left.closed(), 1)
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

  it('says what callers were told of a decision, under the id that they were told', async () => {
    const policy = {
      decision: 'refuse',
      enforced: true,
      reason_code: 'REFUSE_LEGAL',
      policy_id: 'pol_1',
      version: 3,
      triggered_categories: ['hate'],
      event_id: 'evt_told',
    }
    const refused = scene([new Fault('policy', 'invalid_request', 'no', { policy })])
    await assert.rejects(refused.infer(), /no/)
    const ended = scene([[start, { ...end, type: 'end', policy: { ...policy, enforced: false } }]])
    await read(await ended.infer())
    assert.deepEqual([refused.ids, ended.ids], [['evt_told'], ['evt_told']])
    assert.deepEqual(refused.facts[0]?.verdict, {
      decision: 'refuse',
      isEnforced: true,
      reasonCode: 'REFUSE_LEGAL',
      cause: undefined,
      rolloutMode: undefined,
      policy: { id: 'pol_1', version: 3 },
      categoriesTriggered: ['hate'],
    })
  })

  it('never says that a request was allowed which did not come as far as the checks', async () => {
    const fault = new Fault('rate_limit', 'rate_limit_exceeded', 'Slow down.')
    const { infer, facts } = scene([fault], { content: 'full' })
    await assert.rejects(infer())
    assert.deepEqual(facts[0]?.verdict, { decision: 'not_evaluated', isEnforced: false })
    assert.equal(facts[0]?.content, undefined)
  })

  it('is made for nobody’s free request not at all', async () => {
    const { infer, facts } = scene([[start, end]])
    await read(await infer({ caller: { kind: 'free', client: 'c', aliases: [] } }))
    assert.deepEqual(facts, [])
  })

  it('keeps texts beside it where that is wished for, redacted or in full', async () => {
    const contentOf = async (parts: Partial<RecordParts>) => {
      const { infer, facts } = scene([[start, delta], [end]], parts)
      await read(await infer())
      return facts[0]?.content
    }
    const full = { prompt: 'user: the question', response: 'the answer' }
    const redacted = { prompt: 'user: [x] question', response: '[x] answer' }
    assert.equal(await contentOf({ content: 'none' }), undefined)
    assert.deepEqual(await contentOf({ content: 'full' }), { full, redacted })
    assert.deepEqual(await contentOf({ content: 'redacted' }), { redacted })
  })

  it('holds an answer that ends in half a character, as one that was cut may', async () => {
    const { infer, facts } = scene([[start, { ...delta, text: 'half \ud83d' }, end]], { content: 'full' })
    await read(await infer())
    assert.equal(facts[0]?.content?.full?.response, 'half \ufffd')
  })
})
