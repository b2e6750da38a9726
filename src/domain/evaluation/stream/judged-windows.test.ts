import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { plainContext } from '../../../../test/support/evaluation-context.ts'
import { poisonClassifier, rulebookWith } from '../../../../test/support/enforcement-scene.ts'
import { holdBackPolicyOf, prefilterOf } from '../../../../test/support/policy-prefilter.ts'
import { policyOf } from '../../../../test/support/rule-policy.ts'

import { createCelCompiler } from '../../../adapters/cel/cel.ts'
import { createScanText } from '../../scan/scan.ts'
import type { RuleScore } from '../../policy/rule-score.ts'
import type { JudgeWindow } from '../../policy/content.ts'
import { judgeWindowsOf, maxJudgeWindows } from '../../policy/judge-windows.ts'
import { createRuleCompiler } from '../../policy/rule-compiler.ts'
import { createEvaluate, type Evaluation } from '../evaluate.ts'
import { planFor } from '../plan.ts'
import type { ActivePolicy } from '../rulebook.ts'
import { requiredCoverage } from './hold-back-policy.ts'
import { evaluateBlock } from './evaluate-block.ts'
import { createStreamScanner, type StreamScannerParts } from './stream-scanner.ts'

const pause = async (): Promise<void> => {}

type Scene = StreamScannerParts & { readonly judged: string[] }

type SceneOptions = {
  readonly judgeWindow?: JudgeWindow
  readonly score?: (text: string) => RuleScore
  readonly denylist?: readonly string[]
  readonly rules?: readonly string[]
  readonly failsOpen?: boolean
}

/** A judge that finds rude words, and writes down the texts that it judged. */
function sceneWith({ judgeWindow = 'paragraph', score = rudeness, failsOpen = false, ...rest }: SceneOptions): Scene {
  const { denylist = [], rules = [] } = rest
  const judged: string[] = []
  const judge = async ({ text }: { readonly text: string }): Promise<RuleScore> => {
    judged.push(text)
    return score(text)
  }
  const compile = createRuleCompiler({
    compileExpression: createCelCompiler(),
    judge: { version: 'judge@1', ask: judge },
  })
  const content = { versionId: 'polv_judged', organizationId: 'org_1', judgeWindow }
  const polite: ActivePolicy = { ...policyOf(''), id: 'pol_judged', rule: compile({ ...content, rule: 'Be polite.' }) }
  const plan = planFor({ ...rulebookWith({ denylist }), policies: [polite, ...rules.map(policyOf)] }, plainContext)
  const evaluate = createEvaluate({
    scanText: createScanText({ classifier: poisonClassifier, pause, cacheEntries: 0 }),
    pause,
    canRephrase: false,
    failsOpen,
    cacheEntries: 0,
    prefilterOf,
  })
  const holdBack = holdBackPolicyOf(plan, false)
  return { plan, holdBack, evaluate, evaluateUncached: evaluate, pause, classifier: poisonClassifier, judged }
}

const rudeness = (text: string): RuleScore => ({ basisPoints: text.includes('rude') ? 9_000 : 100 })

const paragraph = `${'the gate of the old town was open all day. '.repeat(10).trimEnd()}\n\n`
const rude = `${'the gate of the rude town was open all day. '.repeat(10).trimEnd()}\n\n`

/** Pushes a text in chunks of these lengths. Returns the denial, and how much was cleared before. */
async function stream(scene: Scene, text: string, lengths: readonly number[]) {
  const scanner = createStreamScanner(scene)
  let cleared = 0
  let denied: Evaluation | undefined
  for (let at = 0, chunk = 0; at < text.length && denied === undefined; chunk++) {
    const length = lengths[chunk % lengths.length] ?? 1
    scanner.push(text.slice(at, at + length))
    at += length
    denied = await scanner.scan()
    cleared = scanner.cleared()
  }
  return { scanner, cleared, evaluation: denied ?? (await scanner.end()) }
}

describe('a streamed text with a judge that works by paragraph', () => {
  it('is cleared paragraph by paragraph, each judged once', async () => {
    const scene = sceneWith({})
    assert.equal(requiredCoverage(scene.holdBack), 'paragraph')
    const scanner = createStreamScanner(scene)
    scanner.push(paragraph)
    scanner.push('and the last ')
    assert.equal(await scanner.scan(), undefined)
    await scanner.scanEnd()
    assert.equal(scanner.cleared(), paragraph.length)
    assert.deepEqual(scene.judged, [paragraph])
    assert.equal(scanner.wasHeldWhole(), false)
  })

  it('is held back as a whole if the judge needs the block', async () => {
    const scene = sceneWith({ judgeWindow: 'block' })
    assert.equal(requiredCoverage(scene.holdBack), 'whole')
    assert.deepEqual((await stream(scene, paragraph.repeat(2), [50])).cleared, 0)
    assert.deepEqual(scene.judged, [paragraph.repeat(2)])
  })

  it('ends before the paragraph that the judge denies, and later ones are not judged', async () => {
    const scene = sceneWith({})
    const { cleared, evaluation } = await stream(scene, paragraph + rude + paragraph.repeat(3), [30])
    assert.equal(evaluation.verdict.effectiveDecision, 'refuse')
    assert.equal(evaluation.verdict.deciding?.policyId, 'pol_judged')
    assert.equal(cleared, paragraph.length)
    assert.deepEqual(scene.judged, [paragraph, rude])
  })

  it('is denied at its end if only the last paragraph is', async () => {
    const { evaluation, cleared } = await stream(
      sceneWith({}),
      `${paragraph}${'and the gate was open. '.repeat(8)}how rude`,
      [30],
    )
    assert.equal(evaluation.verdict.effectiveDecision, 'refuse')
    assert.equal(cleared, paragraph.length)
  })

  it('waits for its end after the highest number of paragraphs, and counts as held back as a whole', async () => {
    const scene = sceneWith({})
    const text = paragraph.repeat(maxJudgeWindows + 3)
    const { scanner, cleared } = await stream(scene, text, [400])
    assert.equal(cleared, paragraph.length * maxJudgeWindows)
    assert.equal(scanner.wasHeldWhole(), true)
    assert.ok(new Set(scene.judged).size <= maxJudgeWindows + 1)
  })

  it('is denied by a paragraph that could not be judged, unless failures are allowed', async () => {
    const score = (text: string): RuleScore =>
      text.includes('rude') ? { notEvaluated: 'judge_timeout', isFailure: true } : { basisPoints: 0 }
    const text = paragraph + rude + paragraph
    const closed = await stream(sceneWith({ score }), text, [40])
    assert.equal(closed.evaluation.verdict.effectiveDecision, 'refuse')
    assert.equal(closed.cleared, paragraph.length)
    const open = await stream(sceneWith({ score, failsOpen: true }), text, [40])
    assert.equal(open.evaluation.verdict.effectiveDecision, 'allow')
    assert.equal(open.evaluation.verdict.decision, 'not_evaluated')
  })

  it('is denied by a paragraph that matches although another could not be judged and failures are allowed', async () => {
    const score = (text: string): RuleScore =>
      text.includes('odd') ? { notEvaluated: 'judge_timeout', isFailure: true } : rudeness(text)
    const odd = paragraph.replaceAll('old', 'odd')
    const scene = sceneWith({ score, failsOpen: true })
    for (const text of [odd + rude, rude + odd]) {
      const whole = createStreamScanner(scene)
      whole.push(text)
      assert.equal((await whole.end()).verdict.effectiveDecision, 'refuse')
      assert.equal((await stream(scene, text, [40])).evaluation.verdict.effectiveDecision, 'refuse')
    }
  })

  const words = fc.oneof(
    {
      weight: 60,
      arbitrary: fc.constantFrom('the gate', 'of a town', 'was open all day long.', '\n\n', 'naïve', '日本', paragraph),
    },
    { weight: 1, arbitrary: fc.constantFrom('rude', 'poison', 'project falcon', 'condor', 'grave', 'x'.repeat(900)) },
  )
  const texts = fc.array(words, { maxLength: 150, size: 'max' }).map((list) => list.join(' '))
  const cuts = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 20 })

  it('has the same verdict however it is cut, and no text of a denied paragraph is cleared', async () => {
    const scene = sceneWith({ denylist: ['project falcon'], rules: ['cel:text.matches("cond[ou]r")'] })
    await fc.assert(
      fc.asyncProperty(texts, cuts, cuts, async (text, one, other) => {
        const first = await stream(scene, text, one)
        assert.deepEqual((await stream(scene, text, other)).evaluation, first.evaluation)
        const atOnce = createStreamScanner(scene)
        atOnce.push(text)
        assert.deepEqual(await atOnce.end(), first.evaluation)
        const block = await evaluateBlock(scene, text)
        assert.deepEqual(block.evaluation, first.evaluation)
        assert.equal(block.wasHeldWhole(), atOnce.wasHeldWhole())
        const windows = judgeWindowsOf(text)
        const denied = windows.findIndex((window) => window.includes('rude'))
        const before = windows.slice(0, Math.max(0, denied)).join('')
        if (denied >= 0) assert.equal(first.evaluation.verdict.effectiveDecision, 'refuse')
        if (denied >= 0) assert.ok(first.cleared <= before.length)
      }),
      { numRuns: 300 },
    )
  })
})
