import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { rulebookWith } from '../../../../test/support/enforcement-scene.ts'
import { plainContext } from '../../../../test/support/evaluation-context.ts'
import { holdBackPolicyOf, prefilterOf } from '../../../../test/support/policy-prefilter.ts'
import { policyOf } from '../../../../test/support/rule-policy.ts'
import { wordClassifier } from '../../../../test/support/word-classifier.ts'
import { createScanText } from '../../scan/scan.ts'
import { createEvaluate, type Evaluate, type Evaluation } from '../evaluate.ts'
import { planFor } from '../plan.ts'
import { createStreamScanner, type StreamScanner, type StreamScannerParts } from './stream-scanner.ts'

const pause = async (): Promise<void> => {}
const evaluate = createEvaluate({
  scanText: createScanText({ classifier: wordClassifier, pause, cacheEntries: 0 }),
  pause,
  canRephrase: false,
  failsOpen: false,
  cacheEntries: 0,
  prefilterOf,
})

function partsFor(denylist: readonly string[] = [], rules: readonly string[] = []): StreamScannerParts {
  const plan = planFor({ ...rulebookWith({ denylist }), policies: rules.map(policyOf) }, plainContext)
  const holdBack = holdBackPolicyOf(plan, false)
  return { plan, holdBack, evaluate, evaluateUncached: evaluate, pause, classifier: wordClassifier }
}

/** A scanner to which the text is pushed word by word, with the space before each word, as models generate it. */
async function streamed(parts: StreamScannerParts, text: string): Promise<StreamScanner> {
  const scanner = createStreamScanner(parts)
  for (const [word] of text.matchAll(/\s*\S+/g)) {
    scanner.push(word)
    assert.equal(await scanner.scan(), undefined)
  }
  return scanner
}

/** How much of the text was cleared after each word. */
async function clearedAfter(parts: StreamScannerParts, text: string): Promise<string> {
  return text.slice(0, (await streamed(parts, text)).cleared())
}

describe('a streamed text', () => {
  it('is cleared up to the unfinished word while its risk is clear', async () => {
    assert.equal(await clearedAfter(partsFor(), 'the gate of the old town'), 'the gate of the old ')
  })

  it('waits once for its opening words', async () => {
    assert.equal(await clearedAfter(partsFor(), 'the gate of'), '')
    assert.equal(await clearedAfter(partsFor(), 'the gate of the'), 'the gate of ')
  })

  it('is cleared to its end if the upstream is idle, also if it has only a few words', async () => {
    for (const text of ['the gate of the old town', 'the gate', 'the']) {
      const scanner = await streamed(partsFor(), text)
      await scanner.scanEnd()
      assert.equal(scanner.cleared(), text.length)
    }
  })

  it('keeps a fixed number of characters back if a score is raised', async () => {
    const text = 'the gate of the old town is wary and was open'
    assert.equal(await clearedAfter(partsFor(), text), text.slice(0, -20))
    const scanner = await streamed(partsFor(), text)
    await scanner.scanEnd()
    assert.equal(scanner.cleared(), text.length - 20)
  })

  it('is not cleared any further near a threshold, also if the upstream is idle', async () => {
    const scanner = await streamed(partsFor(), 'the gate of the old town is grave and so on')
    await scanner.scanEnd()
    assert.equal(scanner.cleared(), 'the gate of the old town '.length)
  })

  it('is cleared again when its last words are clear', async () => {
    const text = `the gate is grave ${'and was open all day long '.repeat(4)}`
    assert.equal(await clearedAfter(partsFor(), text), text.slice(0, text.lastIndexOf('long')))
  })

  it('is denied at a decision point, not before', async () => {
    const scanner = await streamed(partsFor(), 'one two three four poison six seven')
    scanner.push(' eight')
    assert.equal(await scanner.scan(), undefined)
    scanner.push(' nine')
    const denied = await scanner.scan()
    assert.equal(denied?.verdict.effectiveDecision, 'refuse')
    assert.equal(scanner.cleared(), 'one two three '.length)
  })

  it('holds back what may become a denied term, and nothing before it', async () => {
    const text = 'the gate of project'
    assert.equal(await clearedAfter(partsFor(['project falcon']), text), 'the gate of ')
    assert.equal(await clearedAfter(partsFor(['project falcon']), `${text} falcon two`), 'the gate of ')
    assert.equal(await clearedAfter(partsFor(['project falcon']), `${text} owl two`), 'the gate of project owl ')
  })

  for (const rule of [
    'cel:text.matches("(?i)\\\\bproject\\\\s+falcon\\\\b")',
    'cel:text.contains("project falcon") || categories.hate > 0.9',
    'cel:text.upperAscii().matches("PROJECT\\\\s+FALCON\\\\b")',
    'cel:text.contains("project falcon") ? 1.0 : 0.0',
    'cel:text.matches("(?i)\\\\bproject\\\\s+falcon\\\\b") || pii.card > 0 ? 0.9 : 0.0',
    'cel:text.contains("project falcon") ? 1.0 : text.contains("owls") ? 0.2 : 0.0',
    'Never mention "project falcon".',
  ]) {
    it(`holds back what may become a match of ${rule}, and nothing before it`, async () => {
      const text = 'the gate of project'
      assert.equal(await clearedAfter(partsFor([], [rule]), text), 'the gate of ')
      assert.equal(await clearedAfter(partsFor([], [rule]), `${text} falcon two`), 'the gate of ')
      assert.equal(await clearedAfter(partsFor([], [rule]), `${text} owl two`), 'the gate of project owl ')
    })
  }

  for (const rule of [
    'cel:text.matches("^project\\\\s+falcon")',
    'cel:text.matches("\\\\A(project|town) falcon") && direction == "response"',
    'cel:text.lowerAscii().matches("^project falcon")',
  ]) {
    it(`is held back from its start only while ${rule} may still match`, async () => {
      const parts = partsFor([], [rule])
      assert.equal(parts.holdBack.holdsWholeBlock, false)
      assert.equal(await clearedAfter(parts, 'project'), '')
      assert.equal(await clearedAfter(parts, 'project falcon two three four'), '')
      assert.equal(await clearedAfter(parts, 'project owl two three four'), 'project owl two three ')
      const text = 'the gate of project falcon was open all day long '
      assert.equal(await clearedAfter(parts, `${text}and so on`), `${text}and so `)
    })
  }

  it('is sent up to one decision point after the other if every text has a score below the threshold', async () => {
    const parts = partsFor([], ['cel:text.contains("project falcon") ? 0.9 : 0.1'])
    assert.equal(parts.holdBack.holdsWholeBlock, false)
    assert.ok((await clearedAfter(parts, 'the gate of the old town was open '.repeat(20))).length > 400)
    const scanner = createStreamScanner(parts)
    scanner.push(`the gate of project falcon ${'was open all day long '.repeat(20)}`)
    const denied = await scanner.scan()
    assert.equal(denied?.verdict.deciding?.scoreBasisPoints, 9_000)
    assert.ok(scanner.cleared() <= 'the gate of '.length)
  })

  it('is not denied by a part of it that begins as an anchored pattern does', async () => {
    const rules = ['cel:text.matches("^(project|falcon)")', 'cel:text.contains("owl") && user == "nobody"']
    const text = `the ${'project falcon '.repeat(80)}and the owl ${'was open all day long '.repeat(4)}`
    const scanner = await streamed(partsFor([], rules), text)
    assert.equal((await scanner.end()).verdict.effectiveDecision, 'allow')
  })

  it('is held back at a letter whose lower case depends on the next one, if a rule changes the case', async () => {
    const parts = partsFor([], ['cel:text.lowerAscii().matches("falc[ou]n")'])
    assert.equal(await clearedAfter(parts, 'the gate of the ΟΔΟΣ was open'), 'the gate of ')
  })

  it('is held back at an escape only if a term or phrase may contain the escape', async () => {
    const text = 'the gate of the%20to'
    const later = `${text}wn was open all `
    assert.equal(await clearedAfter(partsFor([], ['cel:text.matches("falc[ou]n")']), `${later}day`), later)
    assert.equal(await clearedAfter(partsFor(['falcon']), text), 'the gate ')
    assert.equal(await clearedAfter(partsFor(['falcon']), `${later}day`), later)
  })

  it('is held back as a whole by a denied pattern or a rule that needs the end of the text', () => {
    for (const { holdBack } of [partsFor(['/falcon$/']), partsFor([], ['cel:text.matches("falcon$")'])])
      assert.equal(holdBack.holdsWholeBlock, true)
    assert.equal(partsFor(['/falcon/']).holdBack.holdsWholeBlock, false)
  })

  it('is not evaluated while it is clear and nothing matches', async () => {
    let evaluations = 0
    const counting: Evaluate = (plan, texts) => {
      evaluations += 1
      return evaluate(plan, texts)
    }
    const rules = ['cel:text.matches("falc[ou]n")', 'cel:categories.hate > 0.8', 'Never "condor", no hate.']
    const parts = { ...partsFor(['project falcon', '/[0-9]{4}-[0-9]{4}/'], rules), evaluateUncached: counting }
    await streamed(parts, 'the gate of the old town was open all day. '.repeat(20))
    assert.equal(evaluations, 0)
  })
})

describe('the evaluation of a streamed text', () => {
  const words = fc.oneof(
    { weight: 30, arbitrary: fc.constantFrom('the', 'gate', 'of a town', 'was', 'open,', '\n\n', '日本', 'naïve') },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        'wary',
        'grave',
        'project',
        'falcon',
        'рroject',
        Buffer.from('a wary word').toString('hex'),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom('poison', 'project falcon', Buffer.from('the poison is here').toString('base64')),
    },
  )
  const texts = fc.array(words, { maxLength: 120, size: 'max' }).map((list) => list.join(' '))
  const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 })

  async function verdictOn(parts: StreamScannerParts, text: string, lengths: readonly number[]): Promise<Evaluation> {
    const scanner = createStreamScanner(parts)
    for (let at = 0, chunk = 0; at < text.length; chunk++) {
      const length = lengths[chunk % lengths.length] ?? 1
      scanner.push(text.slice(at, at + length))
      at += length
      const denied = await scanner.scan()
      if (denied !== undefined) return denied
    }
    return scanner.end()
  }

  it('is the same if every decision point is evaluated, however the text is cut', async () => {
    const rules = ['cel:text.matches("\\\\bgate\\\\s+grave\\\\b")', 'Never "open, falcon".']
    const parts = partsFor(['project falcon', 'naïve gate', '/town\\s+project/'], rules)
    const thorough = { ...parts, holdBack: { ...parts.holdBack, evaluatesEveryPoint: true } }
    await fc.assert(
      fc.asyncProperty(texts, cuts, cuts, async (text, one, other) => {
        const expected = await verdictOn(thorough, text, one)
        assert.deepEqual(await verdictOn(parts, text, other), expected)
        assert.deepEqual(await verdictOn(parts, text, [Math.max(1, text.length)]), expected)
        const atOnce = createStreamScanner(parts)
        atOnce.push(text)
        assert.deepEqual(await atOnce.end(), expected)
      }),
      { numRuns: 300 },
    )
  })

  const odd = fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom('the', 'gate', 'of a town', 'was', 'open,', '\n', '😀', 'naïve') },
    { weight: 2, arbitrary: fc.constantFrom('Falcon', 'project', 'Gate', 'grave', 'ΟΔΟΣ', 'İ', '\u212a') },
    { weight: 1, arbitrary: fc.constantFrom('project falcon', 'PROJECT  Falcon', 'project owl', 'poison') },
  )
  const oddTexts = fc.array(odd, { maxLength: 60, size: 'max' }).map((list) => list.join(' '))
  const anchored = ['^project falcon', '\\\\A(the|project)\\\\s+\\\\S+ owl', '^(?:the |gate )*project owl']
  const rules = [
    ...anchored.map((pattern) => `cel:text.matches("${pattern}")`),
    'cel:text.lowerAscii().matches("project\\\\s+falcon\\\\b")',
    'cel:text.upperAscii().matches("^(GATE|PROJECT) OWL")',
  ]

  it('names the first check that denies, also after a letter at which the search for a pattern gives up', async () => {
    const text = 'the İ the of a town project falcon the the the the the of a town ΟΔΟΣ poison'
    const parts = partsFor([], ['cel:text.lowerAscii().matches("project\\\\s+falcon\\\\b")'])
    const inSevens = await verdictOn(parts, text, [7])
    assert.equal(inSevens.verdict.deciding?.check, 'policy')
    assert.deepEqual(await verdictOn(parts, text, [1]), inSevens)
    assert.deepEqual(await verdictOn(parts, text, [text.length]), inSevens)
  })

  it('is that of the whole text for anchored patterns and other cases, and no match that is denied is cleared', async () => {
    const anyRules = fc.uniqueArray(fc.constantFrom(...rules), { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(oddTexts, anyRules, fc.tuple(cuts, cuts), async (text, some, [one, other]) => {
        const parts = partsFor([], some)
        assert.equal(parts.holdBack.holdsWholeBlock, false)
        const whole = await evaluate(parts.plan, { texts: [text], direction: 'response' })
        const { verdict } = await verdictOn(parts, text, one)
        assert.equal(verdict.effectiveDecision, whole.verdict.effectiveDecision)
        assert.deepEqual((await verdictOn(parts, text, other)).verdict, verdict)
        const scanner = createStreamScanner(parts)
        for (let at = 0; at < text.length; at += 5) {
          scanner.push(text.slice(at, at + 5))
          if ((await scanner.scan()) !== undefined) break
          await scanner.scanEnd()
        }
        const sent = await evaluate(parts.plan, { texts: [text.slice(0, scanner.cleared())], direction: 'response' })
        assert.equal(sent.verdict.effectiveDecision, 'allow')
      }),
      { numRuns: 500 },
    )
  })
})
