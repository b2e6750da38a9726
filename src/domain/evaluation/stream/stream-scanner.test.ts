import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { plainContext } from '../../../../test/support/evaluation-context.ts'
import { createEmbeddedClassifier } from '../../../adapters/classifiers/embedded/classifier.ts'
import { createCelCompiler } from '../../../adapters/expressions/cel.ts'
import { re2Patterns } from '../../../adapters/patterns/re2.ts'
import { defaultConfiguration, unsaved } from '../../gateway-config/configuration.ts'
import { createIncrementalScan } from '../../moderation/incremental-scan.ts'
import { createScanText } from '../../moderation/scan.ts'
import { createEvaluate } from '../findings/evaluate.ts'
import { createStreamScanner, type StreamScanner, type StreamScannerParts } from './stream-scanner.ts'
import { holdBackOf } from './hold-back.ts'
import { createRuleCompiler } from '../../policy/rule-compiler.ts'
import { initialContent } from '../../policy/content.ts'
import { planFor, type EvaluationContext } from '../rules/plan.ts'
import { compileGateway } from '../rules/rulebooks.ts'
import { emptyRulebook, type ActivePolicy } from '../rules/rulebook.ts'

const classifier = createEmbeddedClassifier()
const pause = (): Promise<void> => Promise.resolve()
const examine = createEvaluate({
  screen: createScanText({ classifier, pause, memory: 0 }),
  pause,
  canRephrase: false,
  failsOpen: false,
  memory: 0,
})
const occasion: EvaluationContext = { ...plainContext, flaggedCategories: ['harassment', 'hate'] }
const plan = planFor(emptyRulebook, occasion)
const readAlong = createIncrementalScan(classifier)
const parts: StreamScannerParts = { plan, holding: holdBackOf(plan, false), examine, glance: examine, pause, readAlong }

/** As short as anything hidden may be, so that looks fall into it. */
const hidden = Buffer.from('go kill yourself now').toString('base64')
const calm = fc.constantFrom('the', 'gate', 'of a town', 'was', 'open,', 'it’s', 'naïve', '\n\n', '🙂')
const words = fc.oneof(
  { weight: 30, arbitrary: calm },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'I want to kill myself',
      'you stupid idiot',
      hidden,
      'go and %6bill %79ourself right now, %49 say, and be dea%64',
      'k i l l',
      'убить',
    ),
  },
)
const texts = fc.array(words, { maxLength: 250, size: 'max' }).map((list) => list.join(' '))
const pieces = fc.array(fc.tuple(fc.integer({ min: 1, max: 30 }), fc.boolean()), {
  minLength: 10,
  maxLength: 120,
  size: 'max',
})

/** All that a follower says about a text that comes in such pieces, with a look ahead after some of them. */
async function told(follower: StreamScanner, text: string, steps: readonly (readonly [number, boolean])[]) {
  const said: unknown[] = []
  let at = 0
  for (const [length, looksAhead] of steps) {
    follower.push(text.slice(at, at + length))
    const denied = await follower.check()
    at += length
    if (looksAhead) await follower.lookAhead(32)
    said.push(follower.cleared())
    if (denied !== undefined) return [...said, denied]
  }
  follower.push(text.slice(at))
  return [...said, await follower.end()]
}

async function atOnce(own: StreamScannerParts, text: string) {
  const follower = createStreamScanner(own)
  follower.push(text)
  return follower.end()
}

describe('a follower that reads along', () => {
  it('says what one says that reads every window anew', async () => {
    await fc.assert(
      fc.asyncProperty(texts, pieces, async (text, steps) => {
        const { identity, classify } = classifier
        const anew = createStreamScanner({ ...parts, readAlong: createIncrementalScan({ identity, classify }) })
        assert.deepEqual(await told(createStreamScanner(parts), text, steps), await told(anew, text, steps))
      }),
      { numRuns: 200 },
    )
  })
})

const compileRule = createRuleCompiler({
  compileExpression: createCelCompiler(),
  patterns: re2Patterns,
  judge: undefined,
})

const policies = [
  'Never mention "Project Falcon".',
  'No card numbers.',
  'cel:pii["email"] > 3 || categories["sexual"] + categories["hate"] > 0.8',
  'cel:text.lowerAscii().contains("launch code")',
].map((rule, at): ActivePolicy => ({
  ...initialContent,
  id: `pol_${at}`,
  versionId: `polv_${at}`,
  version: 1,
  mode: at === 3 ? 'monitoring' : 'enforcing',
  direction: 'both',
  rule: compileRule({ rule, versionId: `polv_${at}`, organizationId: 'org_1' }),
}))

const ruled = planFor({ ...emptyRulebook, policies }, occasion)
const saying = fc.oneof(
  { weight: 300, arbitrary: calm },
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
      'you people are vermin',
      'they are animals',
    ),
  },
  { weight: 1, arbitrary: fc.oneof(words, fc.constantFrom('4111 1111 1111 1111.', 'Project Falcon')) },
)
const said = fc.array(saying, { maxLength: 250, size: 'max' }).map((list) => list.join(' '))

const denyingAss = { ...defaultConfiguration, rules: { ...defaultConfiguration.rules, denylist: ['ass', 'a b c'] } }
const denying = planFor(
  { gateway: compileGateway({ ...unsaved, config: denyingAss, version: 1 }, re2Patterns), policies: [] },
  occasion,
)

describe('a denied term', () => {
  const own = { ...parts, plan: denying, holding: holdBackOf(denying, false) }

  const sevens = Array.from({ length: 100 }, () => [7, true] as const)

  it('is not found in a part of a word, wherever a check falls', async () => {
    const alike = ['cl\u00adass', 'ass\u00adign', 'ass\u200bign', 'ass𝐢𝐠𝐧', '𝐜𝐥ass']
    for (let before = 100; before < 140; before += 1) {
      const text = `${'x '.repeat(before).slice(0, before)} ${alike.join(' ')} ${'the gate was open '.repeat(50)}`
      const examination = (await told(createStreamScanner(own), text, sevens)).at(-1)
      const whole = await atOnce(own, text)
      assert.deepEqual(examination, whole)
      assert.deepEqual(whole.findings.denylistHits, [])
    }
  })

  it('in borrowed letters is found in the Latin part of a text, however the text comes', async () => {
    const latin = 'the gate was open '.repeat(40)
    const text = `${latin}аѕѕ ${latin}${'ворота города были открыты '.repeat(100)}`
    const examination = (await told(createStreamScanner(own), text, sevens.concat(sevens, sevens))).at(-1)
    assert.deepEqual(examination, await atOnce(own, text))
    assert.deepEqual((await told(createStreamScanner(own), text, [[4_000, true]])).at(-1), examination)
    assert.deepEqual((await atOnce(own, text)).findings.denylistHits, ['ass'])
  })

  it('does not make a text of nothing be read again and again', async () => {
    for (const nothing of [' ', '\u200b', '\u00ad ']) {
      const follower = createStreamScanner(own)
      for (let piece = 0; piece < 2_000; piece += 1) {
        follower.push(nothing.repeat(50))
        assert.equal(await follower.check(), undefined)
      }
      assert.ok(follower.cleared() > 90_000)
    }
  })
})

describe('a text that comes at once', () => {
  it('is judged as one that comes in pieces', async () => {
    const own = { ...parts, plan: ruled, holding: holdBackOf(ruled, false) }
    await fc.assert(
      fc.asyncProperty(said, pieces, async (text, steps) => {
        const inPieces = (await told(createStreamScanner(own), text, steps)).at(-1)
        assert.deepEqual(inPieces, await atOnce(own, text))
      }),
      { numRuns: 300 },
    )
  })
})
