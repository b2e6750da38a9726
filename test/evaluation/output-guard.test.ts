import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { systemClock } from '../../src/base/clock.ts'
import {
  defaultConfiguration,
  unsaved,
  type GatewayConfiguration,
} from '../../src/domain/gateway-config/configuration.ts'
import { createEvaluate } from '../../src/domain/evaluation/evaluate.ts'
import { planFor, type Plan } from '../../src/domain/evaluation/plan.ts'
import { compileGateway } from '../../src/domain/evaluation/rulebooks.ts'
import type { ActivePolicy } from '../../src/domain/evaluation/rulebook.ts'
import type {
  Citation,
  InferenceEnd,
  InferenceEvent,
  RawFrames,
  Chunk,
  Usage,
} from '../../src/domain/inference/events.ts'
import { perCategory } from '../../src/domain/scan/classify/categories.ts'
import type { Classifier } from '../../src/domain/scan/classify/classifier.ts'
import { createScanText } from '../../src/domain/scan/scan.ts'
import { guardOutput } from '../../src/pipeline/enforcement/output-guard.ts'
import { createIdleTimers } from '../../src/pipeline/enforcement/idle-timer.ts'
import { re2Patterns } from '../../src/adapters/patterns/re2.ts'
import { plainContext } from '../support/evaluation-context.ts'
import { policyOf } from '../support/rule-policy.ts'
import { holdBackPolicyOf, prefilterOf } from '../support/policy-prefilter.ts'
import { createQuickClock } from '../support/quick-clock.ts'

/** Flags a text with `poison`, and comes near the threshold at `pois`. */
const classifier: Classifier = {
  identity: { id: 'test', version: '1', digest: '' },
  classify(text) {
    const score = text.includes('poison') ? 0.9 : text.includes('pois') ? 0.4 : 0.01
    const scores = perCategory((category) => (category === 'self-harm' ? score : 0))
    return { scores, flagged: score >= 0.5 ? ['self-harm'] : [] }
  },
}

const pause = async (): Promise<void> => {}
const evaluate = createEvaluate({
  scanText: createScanText({ classifier, pause, cacheEntries: 0 }),
  pause,
  canRephrase: true,
  failsOpen: false,
  cacheEntries: 0,
  prefilterOf,
})

function planWith(rules: Partial<GatewayConfiguration['rules']>, policies: readonly ActivePolicy[] = []): Plan {
  const config = { ...defaultConfiguration, rules: { ...defaultConfiguration.rules, ...rules } }
  const gateway = compileGateway({ ...unsaved, config, version: 1 }, re2Patterns)
  return planFor({ organizationId: 'org_1', gateway, policies }, plainContext)
}

const usage: Usage = {
  inputTokens: 1,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 1,
  reasoningTokens: 0,
  source: 'reported',
}
const end: InferenceEnd = { type: 'end', stopReason: 'end', usage }

type Part = Extract<InferenceEvent, { type: 'open' }>['part']

/** One block of a response in these chunks, each with its raw frame. */
function* chunksOf(chunks: readonly string[], part: Part = { type: 'text' }): Generator<Chunk> {
  const frames = (data: string): RawFrames => ({
    kind: 'frames',
    dialect: 'chat',
    frames: [{ event: undefined, data }],
  })
  yield { events: [{ type: 'start', model: 'm' }], raw: frames('start') }
  yield { events: [{ type: 'open', block: 0, part }], raw: frames('open') }
  for (const text of chunks) yield { events: [{ type: 'delta', block: 0, text }], raw: frames(text) }
  yield { events: [{ type: 'close', block: 0 }, end], raw: frames('end') }
}

const framesOf = (data: string): RawFrames => ({
  kind: 'frames',
  dialect: 'chat',
  frames: [{ event: undefined, data }],
})

/** The same chunks with further blocks that open and close between them. */
function* withBlocks(chunkList: readonly Chunk[], positions: readonly number[]): Generator<Chunk> {
  let block = 1
  for (const [at, chunk] of chunkList.entries()) {
    yield chunk
    if (at === 0 || at === chunkList.length - 1 || !positions.includes(at)) continue
    const events: InferenceEvent[] = [
      { type: 'open', block, part: { type: 'text' } },
      { type: 'close', block: block++ },
    ]
    yield { events, raw: framesOf('') }
  }
}

async function* streamed(chunkList: Iterable<Chunk>, isHalting: boolean): AsyncGenerator<Chunk, void> {
  for (const chunk of chunkList) {
    if (isHalting) await new Promise((resolve) => setTimeout(resolve))
    yield chunk
  }
}

type Seen = {
  readonly text: string
  readonly citations: readonly Citation[]
  readonly frames: string
  readonly end: InferenceEnd
  readonly wasStopped: boolean
}

type Way = { readonly rephrased?: string; readonly isHalting?: boolean }

async function answered(
  plan: Plan,
  chunkList: Iterable<Chunk>,
  { rephrased, isHalting = false }: Way = {},
): Promise<Seen> {
  let wasStopped = false
  // If the upstream halts, every gap counts as idle.
  const clock = isHalting ? createQuickClock() : systemClock
  const metered = { chunks: streamed(chunkList, isHalting), used: () => end.usage }
  const leaving = guardOutput(metered, {
    plan,
    holdBack: holdBackPolicyOf(plan, false),
    evaluate,
    evaluateUncached: evaluate,
    classifier,
    idleTimers: createIdleTimers(clock),
    pause,
    rephrase: async () => rephrased,
    stopUpstream: async () => void (wasStopped = true),
    conclude: (decisions) => ({ decisions: decisions.map(({ decision }) => decision) }),
  })
  let text = ''
  const citations: Citation[] = []
  let frames = ''
  let last: InferenceEvent | undefined
  for await (const { events, raw: rawFrames } of leaving) {
    for (const event of events) {
      if (event.type === 'delta') text += event.text
      if (event.type === 'citation') citations.push(event.citation)
      last = event
    }
    if (rawFrames?.kind === 'frames') frames += rawFrames.frames.map(({ data }) => data).join('')
  }
  assert.equal(last?.type, 'end')
  return { text, citations, frames, end: last, wasStopped }
}

const words = fc.constantFrom(
  'the',
  'gate',
  'is',
  'open',
  'assistant',
  'classic',
  'for',
  'all,',
  'who',
  'ask.',
  'naïve',
  '日本',
)
const prose = fc.array(words, { maxLength: 120 }).map((list) => list.join(' '))

/** The text cut at these positions. */
function cut(text: string, positions: readonly number[]): string[] {
  const at = [...new Set(positions.map((position) => position % (text.length + 1)))].sort((one, other) => one - other)
  return [...at, text.length].map((position, index) => text.slice(at[index - 1] ?? 0, position))
}

const positions = fc.array(fc.nat(), { maxLength: 40 })

const hexOf = (code: number, digits: number): string => code.toString(16).padStart(digits, '0')

/** Encodings of a text. */
const wrappings: readonly ((text: string) => string)[] = [
  (text) => Buffer.from(text).toString('base64'),
  (text) => Buffer.from(text).toString('base64url'),
  (text) => Buffer.from(text).toString('hex'),
  (text) => Array.from(Buffer.from(text), (byte) => hexOf(byte, 2)).join(' '),
  (text) => Array.from(Buffer.from(text), (byte) => `%${hexOf(byte, 2)}`).join(''),
  (text) => Array.from({ length: text.length }, (_, at) => `\\u${hexOf(text.charCodeAt(at), 4)}`).join(''),
]

function commonLength(one: string, other: string): number {
  let length = 0
  while (length < one.length && one[length] === other[length]) length += 1
  return length
}

describe('a guarded response', () => {
  it('arrives complete and unchanged, with its raw frames, if it is allowed', async () => {
    const plan = planWith({ denylist: ['project falcon', 'ass'] })
    await fc.assert(
      fc.asyncProperty(prose, positions, async (text, at) => {
        const chunks = cut(text, at)
        const seen = await answered(plan, chunksOf(chunks))
        assert.equal(seen.text, text)
        assert.equal(seen.frames, `startopen${text}end`)
        assert.equal(seen.end.stopReason, 'end')
        assert.ok(!seen.wasStopped)
      }),
    )
  })

  it('never contains a byte of a denied term, however it is cut and spread', async () => {
    const plan = planWith({ denylist: ['project falcon'] })
    const gaps = fc.constantFrom(' ', '   ', '\n', ' \u200b ', '\u00ad  ')
    const letters = fc.constantFrom('project', 'PROJECT', 'pro\u200bject', 'prójéct', 'рroject')
    const scenario = fc.record({
      before: prose,
      first: letters,
      gap: gaps,
      after: prose,
      at: positions,
      isHalting: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(scenario, async ({ before, first, gap, after, at, isHalting }) => {
        const text = `${before} ${first}${gap}falcon ${after}`
        const seen = await answered(plan, chunksOf(cut(text, at)), { isHalting })
        assert.ok(text.startsWith(seen.text) && seen.text.length <= before.length + 1, seen.text)
        assert.equal(seen.end.stopReason, 'filtered')
        assert.ok(seen.wasStopped)
      }),
    )
  })

  for (const [title, plan] of [
    ['denied pattern', planWith({ denylist: ['/project\\s+falcon/i'] })],
    ['pattern of a policy', planWith({}, [policyOf('cel:text.matches("(?i)\\\\bproject\\\\s+falcon\\\\b")')])],
    ['long pattern of a policy', planWith({}, [policyOf('cel:text.matches("(?is)project.*falcon")')])],
    ['phrase of a policy', planWith({}, [policyOf('Never mention "project falcon".')])],
  ] as const) {
    it(`never contains a byte of a match of a ${title}, however it is cut`, async () => {
      const gaps = fc.constantFrom(' ', '   ', '\n', ' \n '.repeat(300))
      const scenario = fc.record({ before: prose, gap: gaps, after: prose, at: positions, isHalting: fc.boolean() })
      await fc.assert(
        fc.asyncProperty(scenario, async ({ before, gap, after, at, isHalting }) => {
          const text = `${before} Project${gap}falcon ${after}`
          const seen = await answered(plan, chunksOf(cut(text, at)), { isHalting })
          assert.ok(text.startsWith(seen.text) && seen.text.length <= before.length + 1, seen.text)
          assert.equal(seen.end.stopReason, 'filtered')
        }),
      )
    })
  }

  it('never contains a byte of a denied term, however it is encoded', async () => {
    const plan = planWith({ denylist: ['project falcon'] })
    const scenario = fc.record({
      before: prose,
      wrap: fc.constantFrom(...wrappings),
      inside: fc.array(words, { maxLength: 250, size: 'max' }).map((list) => list.join(' ')),
      at: fc.array(fc.nat(), { maxLength: 80, size: 'max' }),
      isHalting: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(scenario, async ({ before, wrap, inside, at, isHalting }) => {
        const text = `${before} ${wrap(`${inside} project falcon and all there is`)} and so on`
        const seen = await answered(plan, chunksOf(cut(text, at)), { isHalting })
        // What is sent reveals nothing of the term: other texts begin in the same way.
        const other = `${before} ${wrap(`${inside} \x80`)}`
        assert.ok(text.startsWith(seen.text))
        assert.ok(seen.text.length <= commonLength(text, other), seen.text.slice(before.length))
        assert.equal(seen.end.stopReason, 'filtered')
      }),
    )
  })

  it('never contains a byte of a denied term in its out-of-band text, however it is cut and spread', async () => {
    const plan = planWith({ denylist: ['project falcon'] })
    const scenario = fc.record({
      before: prose,
      after: prose,
      at: positions,
      blocks: fc.array(fc.nat(40)),
      isHalting: fc.boolean(),
      isDelta: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(scenario, async ({ before, after, at, blocks, isHalting, isDelta }) => {
        const outOfBandTexts = cut(`${before} project falcon ${after}`, at)
        const chunkList = [...chunksOf(outOfBandTexts.map(() => 'and so on '))].map((chunk, index): Chunk => {
          const text = outOfBandTexts[index - 2] ?? ''
          const outOfBand = text === '' ? [] : [{ field: 'note', text, ...(isDelta && { isDelta }) }]
          return { events: chunk.events, outOfBand, raw: framesOf(`<${text}>`) }
        })
        const seen = await answered(plan, withBlocks(chunkList, blocks), { isHalting })
        const shown = [...seen.frames.matchAll(/<([^>]*)>/g)].map(([, text]) => text).join('')
        assert.equal(seen.end.stopReason, 'filtered')
        // A block ends out-of-band text that is no delta, so a term that continues after it is found only then.
        if (isDelta || blocks.length === 0) assert.ok(shown.length <= before.length + 1, shown)
        assert.doesNotMatch(shown, /falcon/)
      }),
    )
  })

  it('includes its out-of-band text if it is allowed', async () => {
    const plan = planWith({ denylist: ['project falcon', 'ass'] })
    await fc.assert(
      fc.asyncProperty(prose, positions, fc.array(fc.nat(40)), async (text, at, blocks) => {
        const chunkList = cut(text, at).map((one): Chunk => ({
          events: [],
          outOfBand: one === '' ? [] : [{ field: 'note', text: one, isDelta: true }],
          raw: framesOf(one),
        }))
        const [start, open, ...rest] = chunksOf(['Hello'])
        assert.ok(start && open)
        const seen = await answered(plan, withBlocks([start, open, ...chunkList, ...rest], blocks))
        assert.equal(seen.end.stopReason, 'end')
        assert.ok(seen.frames.includes(text), seen.frames)
      }),
    )
  })

  it('is evaluated in a reasoning signature that contains text', async () => {
    const proven = (value: string): Chunk[] => [
      { events: [{ type: 'start', model: 'm' }] },
      {
        events: [
          { type: 'open', block: 0, part: { type: 'thinking' } },
          { type: 'signature', block: 0, signature: { format: 'messages', value } },
          { type: 'close', block: 0 },
          end,
        ],
      },
    ]
    assert.equal((await answered(planWith({}), proven('a poison'))).end.stopReason, 'filtered')
    assert.equal((await answered(planWith({}), proven('c2lnbmF0dXJl'))).end.stopReason, 'end')
  })

  describe('in a citation', () => {
    const plain: Citation = { url: 'https://example.org/gate', title: 'The gate' }
    const cited = (citation: Citation, raw?: RawFrames): Chunk[] => [
      { events: [{ type: 'start', model: 'm' }], ...(raw && { raw: framesOf('start') }) },
      {
        events: [
          { type: 'open', block: 0, part: { type: 'text' } },
          { type: 'delta', block: 0, text: 'open' },
          { type: 'citation', block: 0, citation },
        ],
        ...(raw && { raw }),
      },
      { events: [{ type: 'close', block: 0 }, end], ...(raw && { raw: framesOf('end') }) },
    ]
    const denied: Readonly<Record<string, Citation>> = {
      title: { ...plain, title: 'A falcon nest' },
      passage: { ...plain, passage: 'We saw a falcon nest.' },
      proof: { ...plain, proof: 'a falcon nest' },
      URL: { ...plain, url: 'https://example.org/a-falcon-nest?at=1' },
    }
    const plan = planWith({ denylist: ['falcon nest'] })

    for (const [field, citation] of Object.entries(denied))
      it(`is denied in its ${field} before the citation is sent`, async () => {
        const seen = await answered(plan, cited(citation))
        assert.deepEqual([seen.end.stopReason, seen.citations, seen.wasStopped], ['filtered', [], true])
      })

    it('is denied in the URL of a frame that is passed through', async () => {
      const seen = await answered(plan, cited(denied['URL'] ?? plain, framesOf('cited')))
      assert.deepEqual([seen.end.stopReason, seen.frames.includes('cited')], ['filtered', false])
    })

    it('is sent after its text if it is allowed', async () => {
      const seen = await answered(plan, cited(plain))
      assert.deepEqual([seen.end.stopReason, seen.text, seen.citations], ['end', 'open', [plain]])
    })

    it('does not leave if the text of its block is denied', async () => {
      const [begin, , last] = cited(plain)
      const middle: Chunk = {
        events: [
          { type: 'open', block: 0, part: { type: 'text' } },
          { type: 'citation', block: 0, citation: plain },
          { type: 'delta', block: 0, text: 'a poison' },
        ],
      }
      assert.ok(begin && last)
      const seen = await answered(plan, [begin, middle, last])
      assert.deepEqual([seen.end.stopReason, seen.citations], ['filtered', []])
    })

    it('is dropped with the text that it belongs to if that is rephrased', async () => {
      const rewriting = planWith({ denylist: ['open'], response_pattern: 'rewrite' })
      const seen = await answered(rewriting, cited(plain), { rephrased: 'closed' })
      assert.deepEqual([seen.text, seen.citations], ['closed', []])
    })
  })

  it('gets the same verdict however it is cut', async () => {
    const plan = planWith({ denylist: ['open who'] })
    const text = fc
      .array(fc.oneof({ weight: 30, arbitrary: words }, fc.constantFrom('poison', 'pois')))
      .map((list) => list.join(' '))
    await fc.assert(
      fc.asyncProperty(text, positions, positions, async (scenario, one, other) => {
        const first = await answered(plan, chunksOf(cut(scenario, one)))
        const second = await answered(plan, chunksOf(cut(scenario, other)))
        const whole = await answered(plan, [{ events: [...chunksOf([scenario])].flatMap(({ events }) => events) }])
        assert.deepEqual(first.end, second.end)
        assert.deepEqual(first.end, whole.end)
        assert.equal(first.end.stopReason === 'filtered', scenario.includes('poison') || scenario.includes('open who'))
      }),
    )
  })

  it('contains no tool call before all of its arguments are scanned, also with escapes', async () => {
    const tool = { type: 'tool-call', id: 't', name: 'send' } as const
    const json = '{"text":"\\u0070oison"}'
    const seen = await answered(planWith({}), chunksOf(cut(json, [3, 9, 12]), tool))
    assert.equal(seen.text, '')
    assert.equal(seen.end.stopReason, 'filtered')
    assert.equal(seen.frames, 'start')
  })

  it('contains no raw frame of an opaque block before its event is scanned', async () => {
    const frames = (data: string): RawFrames => ({
      kind: 'frames',
      dialect: 'chat',
      frames: [{ event: undefined, data }],
    })
    const block = (word: string): Chunk[] => [
      { events: [{ type: 'start', model: 'm' }], raw: frames('start ') },
      { events: [], raw: frames(`${word} `), hasPendingBlock: true },
      {
        events: [
          { type: 'open', block: 0, part: { type: 'opaque', dialect: 'chat', raw: { scenario: word } } },
          { type: 'close', block: 0 },
          end,
        ],
        raw: frames('end'),
      },
    ]
    const seen = await answered(planWith({}), block('poison'), { isHalting: true })
    assert.deepEqual([seen.frames, seen.end.stopReason], ['start ', 'filtered'])
    assert.equal((await answered(planWith({}), block('honey'), { isHalting: true })).frames, 'start honey end')
  })

  it('is evaluated in its thinking too', async () => {
    const seen = await answered(planWith({}), chunksOf(['let me think about ', 'poison', ' now'], { type: 'thinking' }))
    assert.deepEqual([seen.text, seen.end.stopReason], ['', 'filtered'])
  })

  it('is held back as a whole if a pattern is denied', async () => {
    const plan = planWith({ denylist: ['/(?s)begin.*over/'] })
    const long = `begin ${'word '.repeat(200)}over`
    assert.deepEqual((await answered(plan, chunksOf(cut(long, [10, 300, 700])))).text, '')
  })

  it('is rephrased if the configuration requires it, and denied if that fails', async () => {
    const plan = planWith({ denylist: ['secret'], response_pattern: 'rewrite' })
    const kept = await answered(plan, chunksOf(['this is ', 'secret stuff']), { rephrased: 'this is fine' })
    assert.deepEqual([kept.text, kept.end.stopReason, kept.frames], ['this is fine', 'end', 'start'])
    const rejected = await answered(plan, chunksOf(['this is ', 'secret stuff']))
    assert.deepEqual([rejected.text, rejected.end.stopReason], ['', 'filtered'])
  })
})
