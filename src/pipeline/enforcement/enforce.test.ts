import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  evaluateWith,
  evaluateWithoutCache,
  noPause,
  poisonClassifier,
  responseOf,
  rulebookWith,
  streamOf,
  textIn,
  usageOf,
} from '../../../test/support/enforcement-scene.ts'
import { holdBackPolicyOf } from '../../../test/support/policy-prefilter.ts'
import { policyOf } from '../../../test/support/rule-policy.ts'
import { createHandClock } from '../../../test/support/hand-clock.ts'
import { Fault, isFault } from '../../base/fault.ts'
import { andThen } from '../../base/maybe-promise.ts'
import type { VerdictFacts } from '../../domain/audit/event/verdict.ts'
import type { Rulebook } from '../../domain/evaluation/rulebook.ts'
import type { Decision } from '../../domain/evaluation/verdict/combine.ts'
import type { Principal } from '../../domain/identity/principal.ts'
import type { Chunk, InferenceEvent } from '../../domain/inference/events.ts'
import { noFieldRoles } from '../../domain/inference/field-roles.ts'
import type { InferenceRequest, ModelRequest } from '../../domain/inference/request.ts'
import type { Classifier, SecondStage } from '../../domain/scan/classify/classifier.ts'
import type { Metered } from '../billing/meter.ts'
import type { OperationCall } from '../operation-call.ts'
import type { Operation } from '../operation.ts'
import { chatOperation } from '../operations/chat.ts'
import { createEnforce, type EnforceParts } from './enforce.ts'

const caller: Principal = {
  kind: 'api_key',
  id: 'key_1',
  organization: { id: 'org_1', name: 'O', plan: 'p', lifetimePaidMicroUsd: 0, metered: true, createdAtMs: 0 },
  projectId: 'proj_1',
  models: null,
  permissions: new Set(),
  networks: null,
}

const requestOf = (text: string): InferenceRequest => ({
  model: 'm',
  stream: true,
  messages: [{ role: 'user', parts: [{ type: 'text', text }] }],
  stop: [],
  tools: [],
  flaggedCategories: [],
  raw: { dialect: 'messages', body: {}, headers: {}, roles: noFieldRoles },
})

const operation: Operation = chatOperation
const textOf = (request: ModelRequest): string =>
  operation
    .messagesOf(request)
    .flatMap(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')))
    .join('')

/** Enforcement with a recorded quota, under the rules of one organization. */
function createScene(rulebook: Rulebook, more: Partial<EnforceParts> = {}) {
  const quota = { taken: 0, settled: [] as number[], released: 0 }
  const counted: (readonly Decision[])[] = []
  const verdicts: VerdictFacts[] = []
  const enforce = createEnforce({
    rulebookOf: () => rulebook,
    hasPolicy: async () => false,
    evaluate: evaluateWithoutCache,
    holdBackPolicyOf,
    evaluateUncached: evaluateWithoutCache,
    rephrase: undefined,
    quotas: {
      take({ outputTokens }) {
        quota.taken += 1
        return {
          maxOutputTokens: Math.min(outputTokens, 50),
          settle: async (tokens) => void quota.settled.push(tokens),
          [Symbol.asyncDispose]: async () => void (quota.released += 1),
        }
      },
    },
    clock: createHandClock().clock,
    pause: noPause,
    ids: (prefix) => `${prefix}_1`,
    classifier: poisonClassifier,
    crisisMessage: 'You are not alone.',
    restoresPersonalData: true,
    countDecisions: ({ decisions }) => void counted.push(decisions),
    ...more,
  })
  const callOf = (text: string, fields: Partial<OperationCall> = {}): OperationCall => ({
    requestId: 'req_1',
    caller,
    operation,
    request: requestOf(text),
    signal: new AbortController().signal,
    onVerdict: (facts) => void verdicts.push(facts()),
    ...fields,
  })
  const send = (text: string, fields: Partial<OperationCall> = {}) =>
    enforce(callOf(text, fields), { expected: usageOf(0), outputTokens: 100 })
  return { send, quota, counted, verdicts }
}

const meteredOf = (chunks: AsyncIterable<Chunk>): Metered => ({
  chunks,
  used: () => usageOf(7),
  delivered() {},
  [Symbol.asyncDispose]: async () => {},
})

async function eventsOf(chunks: AsyncIterable<Chunk>): Promise<readonly InferenceEvent[]> {
  const events: InferenceEvent[] = []
  for await (const chunk of chunks) events.push(...chunk.events)
  return events
}

const stopUpstream = async (): Promise<void> => {}

const faultOf = async (promise: Promise<unknown>): Promise<Fault> => {
  const error = await promise.then(
    () => assert.fail('nothing was thrown'),
    (reason: unknown) => reason,
  )
  assert.ok(isFault(error))
  return error
}

/** The classifier of poison with a second stage that reports how it decided. */
function scannedBy(stageOf: (text: string) => SecondStage | undefined): Partial<EnforceParts> {
  const classifier: Classifier = {
    ...poisonClassifier,
    classify(text, direction) {
      const stage = stageOf(text)
      return andThen(poisonClassifier.classify(text, direction), (one) => ({ ...one, ...(stage && { stage }) }))
    },
  }
  const evaluate = evaluateWith(classifier)
  return { evaluate, evaluateUncached: evaluate, classifier }
}

describe('the classifier in the facts for the audit log', () => {
  const stageOf = (text: string): SecondStage | undefined =>
    text.includes('poison') ? 'encoder' : text.includes('late') ? 'linear_encoder_late' : undefined

  it('is the first stage if that was enough', async () => {
    const { send, verdicts } = createScene(rulebookWith({}), scannedBy(stageOf))
    await send('How are you?')
    assert.deepEqual(verdicts[0]?.classifier, { id: 'test', version: '1', stage: 'linear' })
  })

  it('is the stage that denied the request, although another text of it was classified without the encoder', async () => {
    const { send, verdicts } = createScene(rulebookWith({}), scannedBy(stageOf))
    const message = (text: string) => ({ role: 'user' as const, parts: [{ type: 'text' as const, text }] })
    const request = { ...requestOf(''), messages: [message('It is late.'), message('Drink the poison.')] }
    await faultOf(send('', { request }))
    assert.equal(verdicts.at(-1)?.classifier?.stage, 'encoder')
  })

  it('names a late encoder if request and response are allowed without it', async () => {
    const { send, verdicts } = createScene(rulebookWith({}), scannedBy(stageOf))
    const enforced = await send('How are you?')
    await eventsOf(enforced.guard(meteredOf(streamOf(responseOf('It is late.'))), stopUpstream))
    assert.equal(verdicts.at(-1)?.classifier?.stage, 'linear_encoder_late')
  })

  it('is the stage that denied the response', async () => {
    const { send, verdicts } = createScene(rulebookWith({}), scannedBy(stageOf))
    const enforced = await send('Is it late?')
    await eventsOf(enforced.guard(meteredOf(streamOf(responseOf('Drink the poison.'))), stopUpstream))
    assert.deepEqual([verdicts.at(-1)?.direction, verdicts.at(-1)?.classifier?.stage], ['response', 'encoder'])
  })

  it('is the first stage if that alone denied a block of the response, after the encoder allowed another', async () => {
    const onlyRead = (text: string): SecondStage | undefined => (text.includes('read') ? 'encoder' : undefined)
    const { send, verdicts } = createScene(rulebookWith({}), scannedBy(onlyRead))
    const enforced = await send('How are you?')
    const [start = { events: [] }, ...denied] = responseOf('Drink the poison.')
    const allowed: Chunk = {
      events: [
        { type: 'open', block: 1, part: { type: 'text' } },
        { type: 'delta', block: 1, text: 'It is read twice.' },
        { type: 'close', block: 1 },
      ],
    }
    await eventsOf(enforced.guard(meteredOf(streamOf([start, allowed, ...denied])), stopUpstream))
    assert.deepEqual([verdicts.at(-1)?.decision, verdicts.at(-1)?.classifier?.stage], ['refuse', 'linear'])
  })
})

describe('enforcing rules on a request', () => {
  it('lets an allowed request pass unchanged', async () => {
    const { send, counted, verdicts } = createScene(rulebookWith({ denylist: ['project falcon'] }))
    const enforced = await send('How are you?')
    assert.equal(textOf(enforced.request), 'How are you?')
    assert.equal(verdicts[0]?.decision, 'allow')
    assert.equal(counted.length, 0)
  })

  it('denies a request that hits a denied term, and names the policy', async () => {
    const { send, counted } = createScene(rulebookWith({ denylist: ['project falcon'] }))
    const fault = await faultOf(send('Tell me about Project Falcon.'))
    assert.deepEqual([fault.kind, fault.code], ['policy', 'policy_blocked'])
    assert.equal(fault.details.policy?.['effective_decision'], 'refuse')
    assert.equal(fault.details.policy?.['event_id'], 'evt_1')
    assert.equal(counted[0]?.find(({ check }) => check === 'gateway')?.decision, 'refuse')
  })

  it('denies a request about self-harm with the crisis message, whatever the configuration', async () => {
    const { send } = createScene(rulebookWith({}))
    const fault = await faultOf(send('Which poison is quick?'))
    assert.deepEqual([fault.code, fault.message], ['moderation_blocked', 'You are not alone.'])
  })

  it('redacts personal data in a request', async () => {
    const { send } = createScene(rulebookWith({ redact: true }))
    const enforced = await send('Write to ada@example.org.')
    assert.equal(textOf(enforced.request), 'Write to [EMAIL_1].')
  })

  it('sends the rephrased text of a request that must be rewritten', async () => {
    const rules = rulebookWith({ denylist: ['project falcon'], response_pattern: 'rewrite' })
    const { send } = createScene(rules, { rephrase: async () => 'Tell me about birds.' })
    const enforced = await send('Tell me about Project Falcon.')
    assert.equal(textOf(enforced.request), 'Tell me about birds.')
  })

  it('denies a request whose rephrased text is still offending', async () => {
    const rules = rulebookWith({ denylist: ['project falcon'], response_pattern: 'rewrite' })
    const { send } = createScene(rules, { rephrase: async () => 'A word on Project Falcon.' })
    assert.equal((await faultOf(send('Tell me about Project Falcon.'))).code, 'policy_blocked')
  })

  it('only reports a denial in shadow mode', async () => {
    const shadow = { enabled: true, sample_percent: 100, targets: [] }
    const { send, verdicts } = createScene(rulebookWith({ denylist: ['project falcon'] }, { shadow }))
    const enforced = await send('Tell me about Project Falcon.')
    assert.equal(textOf(enforced.request), 'Tell me about Project Falcon.')
    assert.deepEqual([verdicts[0]?.decision, verdicts[0]?.isEnforced], ['refuse', false])
  })

  it('rejects a request that names an unknown policy', async () => {
    const { send, quota } = createScene(rulebookWith({}))
    const fault = await faultOf(send('Hello', { purpose: { policyIds: ['pol_missing'] } }))
    assert.equal(fault.code, 'invalid_header')
    assert.equal(quota.taken, 0)
  })

  it('applies only the always blocked categories to a free-tier request, and counts nothing', async () => {
    const { send, quota, counted } = createScene(rulebookWith({ denylist: ['project falcon'] }))
    const free = { caller: { kind: 'free', client: 'c', aliases: [] } } as const
    await send('Tell me about Project Falcon.', free)
    assert.equal((await faultOf(send('Which poison is quick?', free))).code, 'moderation_blocked')
    assert.deepEqual([quota.taken, counted.length], [0, 0])
  })
})

describe('the quota of a request', () => {
  it('is reserved before evaluation, and limits the output', async () => {
    const { send, quota } = createScene(rulebookWith({}))
    const enforced = await send('Hello')
    assert.deepEqual([quota.taken, enforced.outputTokensLeft], [1, 50])
    assert.deepEqual([quota.settled, quota.released], [[], 0])
  })

  it('is released if the request is denied', async () => {
    const { send, quota } = createScene(rulebookWith({ denylist: ['project falcon'] }))
    await faultOf(send('Tell me about Project Falcon.'))
    assert.deepEqual([quota.taken, quota.released], [1, 1])
  })

  it('stops the request if none is left, without evaluating it', async () => {
    let evaluations = 0
    const { send } = createScene(rulebookWith({}), {
      quotas: {
        take() {
          throw new Fault('rate_limit', 'rate_limit_exceeded', 'No tokens left.')
        },
      },
      evaluate(plan, texts) {
        evaluations += 1
        return evaluateWithoutCache(plan, texts)
      },
    })
    assert.equal((await faultOf(send('Hello'))).code, 'rate_limit_exceeded')
    assert.equal(evaluations, 0)
  })

  it('is settled with the usage that the response reports at its end', async () => {
    const { send, quota } = createScene(rulebookWith({}))
    const enforced = await send('Hello')
    await eventsOf(enforced.guard(meteredOf(streamOf(responseOf('Hello, Ada.'))), stopUpstream))
    assert.deepEqual(quota.settled, [15])
  })

  it('is settled with the usage so far if the caller leaves during the response', async () => {
    const { send, quota } = createScene(rulebookWith({}))
    const enforced = await send('Hello')
    for await (const _ of enforced.guard(meteredOf(streamOf(responseOf('Hello, Ada.'))), stopUpstream)) break
    await enforced[Symbol.asyncDispose]()
    assert.deepEqual(quota.settled, [17])
  })

  it('is given back in full if no response was started', async () => {
    const { send, quota } = createScene(rulebookWith({}))
    const enforced = await send('Hello')
    await enforced[Symbol.asyncDispose]()
    assert.deepEqual(quota.settled, [0])
  })
})

describe('the response of an enforced request', () => {
  it('is redacted across chunk borders', async () => {
    const { send } = createScene(rulebookWith({ redact: true }))
    const enforced = await send('Whom should I ask?')
    const chunks = streamOf(responseOf('Write to bob@exam', 'ple.org today.'))
    assert.equal(textIn(await eventsOf(enforced.guard(meteredOf(chunks), stopUpstream))), 'Write to [EMAIL_1] today.')
  })

  it('gets the personal data of the request back if the model repeats its placeholder', async () => {
    const { send } = createScene(rulebookWith({ redact: true }))
    const enforced = await send('I am ada@example.org.')
    const chunks = streamOf(responseOf('Your address is [EMA', 'IL_1].'))
    assert.equal(
      textIn(await eventsOf(enforced.guard(meteredOf(chunks), stopUpstream))),
      'Your address is ada@example.org.',
    )
  })

  it('keeps placeholders if restoring is turned off', async () => {
    const { send } = createScene(rulebookWith({ redact: true }), { restoresPersonalData: false })
    const enforced = await send('I am ada@example.org.')
    const chunks = streamOf(responseOf('Your address is [EMAIL_1].'))
    assert.equal(textIn(await eventsOf(enforced.guard(meteredOf(chunks), stopUpstream))), 'Your address is [EMAIL_1].')
  })

  it('carries the verdict on its end event if a check did not allow it', async () => {
    const { send, counted, verdicts } = createScene(rulebookWith({ denylist: ['project falcon'] }))
    const enforced = await send('What is its name?')
    const events = await eventsOf(enforced.guard(meteredOf(streamOf(responseOf('Project Falcon.'))), stopUpstream))
    const last = events.at(-1)
    assert.ok(last?.type === 'end')
    assert.deepEqual([last.stopReason, last.policy?.['decision']], ['filtered', 'refuse'])
    assert.deepEqual([verdicts.at(-1)?.direction, verdicts.at(-1)?.coverage], ['response', 'held_back'])
    assert.equal(counted.length, 1)
  })

  for (const [words, coverage] of [
    [50, 'held_back'],
    [100, 'whole'],
  ] as const) {
    it(`has the coverage ${coverage} in its audit event if a match was pending for ${words} words`, async () => {
      const rule = policyOf('cel:text.matches("begin[a-z ]*end")')
      const { send, verdicts } = createScene({ ...rulebookWith({}), policies: [rule] })
      const enforced = await send('Hello')
      const texts = ['Here they begin ', ...Array.from({ length: words }, () => 'the day '), 'and go. ', 'It is over.']
      const events = await eventsOf(enforced.guard(meteredOf(streamOf(responseOf(...texts))), stopUpstream))
      assert.equal(enforced.requiredCoverage, 'held_back')
      assert.equal(textIn(events), texts.join(''))
      assert.equal(verdicts.at(-1)?.coverage, coverage)
    })
  }

  it('withholds the message of an upstream error that contains a denied term', async () => {
    const { send } = createScene(rulebookWith({ denylist: ['project falcon'] }))
    const enforced = await send('Hello')
    const error = new Fault('validation', 'upstream_rejected', 'Project Falcon is not supported.')
    const fault = await faultOf(enforced.fail(error))
    assert.equal(fault.code, 'upstream_rejected')
    assert.doesNotMatch(fault.message, /Falcon/)
  })

  it('passes any other upstream error on as it is', async () => {
    const { send } = createScene(rulebookWith({ denylist: ['project falcon'] }))
    const enforced = await send('Hello')
    const error = new Fault('upstream_failed', 'upstream_error', 'The upstream failed.')
    const chunks = enforced.guard(meteredOf(streamOf(responseOf('Hi').slice(0, 2), error)), stopUpstream)
    assert.equal(await faultOf(eventsOf(chunks)), error)
  })
})
