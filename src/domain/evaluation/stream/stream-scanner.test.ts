import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { plainContext } from '../../../../test/support/evaluation-context.ts'
import { holdBackPolicyOf, prefilterOf } from '../../../../test/support/policy-prefilter.ts'
import { policyOf } from '../../../../test/support/rule-policy.ts'
import { createEmbeddedClassifier } from '../../../adapters/classifiers/embedded/classifier.ts'
import { re2Patterns } from '../../../adapters/patterns/re2.ts'
import { defaultConfiguration, unsaved } from '../../gateway-config/configuration.ts'
import { createScanText } from '../../scan/scan.ts'
import { createEvaluate, type Evaluation } from '../evaluate.ts'
import { evaluateBlock } from './evaluate-block.ts'
import { createStreamScanner, type StreamScanner, type StreamScannerParts } from './stream-scanner.ts'
import { planFor, type EvaluationContext } from '../plan.ts'
import { compileGateway } from '../rulebooks.ts'
import { emptyRulebook, type ActivePolicy } from '../rulebook.ts'

const classifier = createEmbeddedClassifier()
const pause = (): Promise<void> => Promise.resolve()
const evaluate = createEvaluate({
  scanText: createScanText({ classifier, pause, cacheEntries: 0 }),
  pause,
  canRephrase: false,
  failsOpen: false,
  cacheEntries: 0,
  prefilterOf,
})
const context: EvaluationContext = { ...plainContext, flaggedCategories: ['harassment', 'hate'] }
const plan = planFor(emptyRulebook, context)
const parts: StreamScannerParts = {
  plan,
  holdBack: holdBackPolicyOf(plan, false),
  evaluate,
  evaluateUncached: evaluate,
  pause,
  classifier,
}

/** As short as an encoded text may be, so that scans end inside it. */
const encoded = Buffer.from('go kill yourself now').toString('base64')
const clean = fc.constantFrom('the', 'gate', 'of a town', 'was', 'open,', 'it’s', 'naïve', '\n\n', '🙂')
const words = fc.oneof(
  { weight: 30, arbitrary: clean },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'I want to kill myself',
      'you stupid idiot',
      encoded,
      'go and %6bill %79ourself right now, %49 say, and be dea%64',
      'k i l l',
      'убить',
    ),
  },
)
const texts = fc.array(words, { maxLength: 250, size: 'max' }).map((list) => list.join(' '))
const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 30 }), fc.boolean()), {
  minLength: 10,
  maxLength: 120,
  size: 'max',
})

/** Everything a scanner reports about a text that arrives in such chunks, with an idle upstream after some of them. */
async function reportsOf(scanner: StreamScanner, text: string, chunks: readonly (readonly [number, boolean])[]) {
  const reports: unknown[] = []
  let at = 0
  for (const [length, isIdle] of chunks) {
    scanner.push(text.slice(at, at + length))
    const denied = await scanner.scan()
    at += length
    if (isIdle) await scanner.scanEnd()
    reports.push(scanner.cleared())
    if (denied !== undefined) return [...reports, denied]
  }
  scanner.push(text.slice(at))
  return [...reports, await scanner.end()]
}

async function atOnce(own: StreamScannerParts, text: string) {
  const scanner = createStreamScanner(own)
  scanner.push(text)
  return scanner.end()
}

/** The evaluation of a text whose block is held back until it is complete. */
async function heldWhole(own: StreamScannerParts, text: string) {
  return atOnce({ ...own, holdBack: { ...own.holdBack, holdsWholeBlock: true } }, text)
}

const oneByOne = (text: string) => Array.from(text, () => [1, false] as const)

describe('a text that is denied at a decision point, but not by the score of the whole text', () => {
  const text = `I want to kill myself ann@example.org of a town ${'the '.repeat(3)}of a town project ${'the '.repeat(4)}of a town gate`

  it('gets the same verdict in chunks, at once, and from a block that is held back', async () => {
    const alone = await evaluate(plan, { texts: [text], direction: 'response' })
    assert.equal(alone.verdict.effectiveDecision, 'allow', 'the whole text alone is not denied')
    const inChunks = (await reportsOf(createStreamScanner(parts), text, oneByOne(text))).at(-1) as Evaluation
    assert.equal(inChunks.verdict.effectiveDecision, 'refuse')
    assert.deepEqual(await atOnce(parts, text), inChunks)
    assert.deepEqual(await heldWhole(parts, text), inChunks)
  })

  it('gets the same verdict if only a part of it is decoded', async () => {
    const encodedWords = 'go and %6bill %79ourself right now, %49 say, and be dea%64'
    const partly = `${encodedWords} launch code eyes only the the ann@example.org the the the gate the`
    const inChunks = (await reportsOf(createStreamScanner(parts), partly, oneByOne(partly))).at(-1) as Evaluation
    assert.equal(inChunks.verdict.effectiveDecision, 'refuse')
    assert.deepEqual(await atOnce(parts, partly), inChunks)
    assert.deepEqual(await heldWhole(parts, partly), inChunks)
  })
})

describe('a stream scanner with the embedded classifier', () => {
  it('gives the same evaluation as one that evaluates every decision point', async () => {
    await fc.assert(
      fc.asyncProperty(texts, steps, async (text, chunks) => {
        const thorough = { ...parts, holdBack: { ...parts.holdBack, evaluatesEveryPoint: true } }
        assert.deepEqual(
          (await reportsOf(createStreamScanner(parts), text, chunks)).at(-1),
          (await reportsOf(createStreamScanner(thorough), text, chunks)).at(-1),
        )
      }),
      { numRuns: 200 },
    )
  })
})

const policies = [
  'Never mention "Project Falcon".',
  'No card numbers.',
  'cel:pii["email"] > 3 || categories["sexual"] + categories["hate"] > 0.8',
  'cel:text.matches("(?i)\\\\bsecret\\\\s+plans?\\\\b") || text.contains("eyes only")',
  'cel:direction == "response" && text.matches("code [0-9]{4}")',
  'cel:text.lowerAscii().contains("launch code")',
].map((rule, at): ActivePolicy => ({ ...policyOf(rule, at), mode: at === 5 ? 'monitoring' : 'enforcing' }))

const ruled = planFor({ ...emptyRulebook, policies }, context)
const fragments = fc.oneof(
  { weight: 300, arbitrary: clean },
  {
    weight: 20,
    arbitrary: fc.constantFrom(
      'ann@example.org',
      'bob@example.org,',
      'call +1 212 555 0143',
      '4111 1111',
      '4111 1111 1111 1111 22',
      'falcon',
      'project',
      'launch code',
      'secret',
      'secret planning',
      'code 12',
      'eyes',
      'you people are vermin',
      'they are animals',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.oneof(
      words,
      fc.constantFrom('4111 1111 1111 1111.', 'Project Falcon', 'secret plan', 'code 1234', 'eyes only'),
    ),
  },
)
const ruledTexts = fc.array(fragments, { maxLength: 250, size: 'max' }).map((list) => list.join(' '))

const denyingAss = { ...defaultConfiguration, rules: { ...defaultConfiguration.rules, denylist: ['ass', 'a b c'] } }
const denying = planFor(
  {
    ...emptyRulebook,
    gateway: compileGateway({ ...unsaved, config: denyingAss, version: 1 }, re2Patterns),
  },
  context,
)

describe('a denied term', () => {
  const own = { ...parts, plan: denying, holdBack: holdBackPolicyOf(denying, false) }

  const sevens = Array.from({ length: 100 }, () => [7, true] as const)

  it('is not found in a part of a word, wherever a scan ends', async () => {
    const alike = ['cl\u00adass', 'ass\u00adign', 'ass\u200bign', 'ass𝐢𝐠𝐧', '𝐜𝐥ass']
    for (let before = 100; before < 140; before += 1) {
      const text = `${'x '.repeat(before).slice(0, before)} ${alike.join(' ')} ${'the gate was open '.repeat(50)}`
      const evaluation = (await reportsOf(createStreamScanner(own), text, sevens)).at(-1)
      const whole = await atOnce(own, text)
      assert.deepEqual(evaluation, whole)
      assert.deepEqual(whole.findings.denylistHits, [])
    }
  })

  it('in homoglyphs is found in the Latin part of a text, however the text is cut', async () => {
    const latin = 'the gate was open '.repeat(40)
    const text = `${latin}аѕѕ ${latin}${'ворота города были открыты '.repeat(100)}`
    const evaluation = (await reportsOf(createStreamScanner(own), text, sevens.concat(sevens, sevens))).at(-1)
    assert.deepEqual(evaluation, await atOnce(own, text))
    assert.deepEqual((await reportsOf(createStreamScanner(own), text, [[4_000, true]])).at(-1), evaluation)
    assert.deepEqual((await atOnce(own, text)).findings.denylistHits, ['ass'])
  })

  it('does not make the scanner walk a blank text repeatedly', async () => {
    for (const blank of [' ', '\u200b', '\u00ad ']) {
      const scanner = createStreamScanner(own)
      for (let chunk = 0; chunk < 2_000; chunk += 1) {
        scanner.push(blank.repeat(50))
        assert.equal(await scanner.scan(), undefined)
      }
      assert.ok(scanner.cleared() > 90_000)
    }
  })
})

describe('a text that arrives at once', () => {
  it('gets the same verdict as one that arrives in chunks, and as one that is held back until it is complete', async () => {
    const own = { ...parts, plan: ruled, holdBack: holdBackPolicyOf(ruled, false) }
    await fc.assert(
      fc.asyncProperty(ruledTexts, steps, async (text, chunks) => {
        const inChunks = (await reportsOf(createStreamScanner(own), text, chunks)).at(-1) as Evaluation
        assert.deepEqual(inChunks, await atOnce(own, text))
        assert.deepEqual(await heldWhole(own, text), inChunks)
        assert.deepEqual((await evaluateBlock(own, text)).evaluation, inChunks)
      }),
      { numRuns: 300 },
    )
  })
})

describe('a conditional between two constants', () => {
  const conditions = [
    'text.contains("eyes only")',
    'text.lowerAscii().contains("launch code") || text.contains("falcon")',
    'text.matches("(?i)\\\\bsecret\\\\s+plans?\\\\b") || text.matches("code [0-9]{4}")',
    'pii["email"] > 1 || pii["card"] > 0',
    'direction == "response" && text.contains("eyes")',
  ]
  const share = fc.integer({ min: 0, max: 20 }).map((twentieths) => twentieths / 20)
  const spelled = (constant: number): string => constant.toFixed(2)

  it('gives a streamed text the verdict and the score of the whole text, whatever the constants and the threshold are', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          condition: fc.constantFrom(...conditions),
          high: share,
          low: share,
          threshold: fc.integer({ min: 1, max: 10_000 }),
        }),
        ruledTexts.filter((text) => text.trim() !== ''),
        steps,
        async ({ condition, high, low, threshold }, text, chunks) => {
          const rule = `cel:${condition} ? ${spelled(high)} : ${spelled(low)}`
          const tried = { ...policyOf(rule), matchThresholdBasisPoints: threshold }
          const ofRule = planFor({ ...emptyRulebook, policies: [tried] }, plainContext)
          const own = { ...parts, plan: ofRule, holdBack: holdBackPolicyOf(ofRule, false) }
          const scoreOf = ({ verdict }: Evaluation) =>
            verdict.decisions.find(({ check }) => check === 'policy')?.scoreBasisPoints
          const streamed = (await reportsOf(createStreamScanner(own), text, chunks)).at(-1) as Evaluation
          const whole = await heldWhole(own, text)
          assert.equal(streamed.verdict.effectiveDecision, whole.verdict.effectiveDecision)
          fc.pre(whole.verdict.decisions.every(({ check, effect }) => check === 'policy' || effect === 'allow'))
          // A rule that matches every text denies a stream at its first decision point, before the condition may be true.
          if (threshold > low * 10_000 || high < low) assert.equal(scoreOf(streamed), scoreOf(whole))
        },
      ),
      { numRuns: 300 },
    )
  })
})
