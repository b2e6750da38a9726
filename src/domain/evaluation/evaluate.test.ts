import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { plainContext } from '../../../test/support/evaluation-context.ts'
import { prefilterOf } from '../../../test/support/policy-prefilter.ts'
import fc from 'fast-check'
import { re2Patterns } from '../../adapters/patterns/re2.ts'
import { unsaved } from '../gateway-config/configuration.ts'
import { perCategory } from '../scan/classify/categories.ts'
import type { Classification, Classifier } from '../scan/classify/classifier.ts'
import { createScanText } from '../scan/scan.ts'
import { createEvaluate, type Evaluate } from './evaluate.ts'
import { initialContent } from '../policy/content.ts'
import { planFor, type Plan } from './plan.ts'
import type { ActivePolicy } from './rulebook.ts'
import { compileGateway } from './rulebooks.ts'

/** Flags hate if the text contains `bad`; longer texts score higher. Counts the texts it classifies. */
function createFake(): Classifier & { calls: number; isProvisional: boolean } {
  return {
    calls: 0,
    isProvisional: false,
    identity: { id: 'fake', version: '1', digest: '' },
    classify(text): Classification {
      this.calls += 1
      const isBad = text.includes('bad')
      return {
        scores: perCategory((name) => (isBad && name === 'hate' ? 0.9 : text.length / 1_000)),
        flagged: isBad ? ['hate'] : [],
        isProvisional: this.isProvisional,
      }
    },
  }
}

const pause = (): Promise<void> => Promise.resolve()

function createScene(cacheEntries: number): { evaluate: Evaluate; classifier: ReturnType<typeof createFake> } {
  const classifier = createFake()
  const scanText = createScanText({ classifier, pause, cacheEntries })
  return {
    classifier,
    evaluate: createEvaluate({ scanText, pause, prefilterOf, canRephrase: false, failsOpen: false, cacheEntries }),
  }
}

/** A policy against texts that name the user. */
const policy: ActivePolicy = {
  ...initialContent,
  id: 'pol_1',
  versionId: 'polv_1',
  version: 1,
  direction: 'both',
  mode: 'enforcing',
  rule: {
    lookBehind: 'whole',
    condition: undefined,
    evaluator: 'judge',
    names: [],
    categories: [],
    injectionPlaces: [],
    score: ({ text, user }) => ({ basisPoints: user !== '' && text.includes(user) ? 10_000 : 0 }),
  },
}

type Rules = { readonly denied: readonly string[]; readonly policies: readonly ActivePolicy[]; readonly user: string }

function planOf({ denied, policies, user }: Rules): Plan {
  const config = { ...unsaved.config, rules: { ...unsaved.config.rules, denylist: denied } }
  const gateway = compileGateway({ ...unsaved, config }, re2Patterns)
  return planFor({ organizationId: 'org_1', gateway, policies }, { ...plainContext, user, flaggedCategories: ['hate'] })
}

const cleanTexts = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `turn ${at} of a chat`)

it('an always blocked category is not attributed to the gateway configuration, whether listed there or not', async () => {
  const { evaluate } = createScene(0)
  for (const flagged of [[], ['self-harm']] as const) {
    const plan = planOf({ denied: [], policies: [], user: '' })
    const rules = { ...plan.gateway.config.rules, flagged_categories: flagged, response_pattern: 'escalate' } as const
    const gateway = { ...plan.gateway, config: { ...plan.gateway.config, rules } }
    const scanned = { texts: ['fine'], direction: 'request', givenCategories: ['self-harm'] } as const
    const { verdict } = await evaluate({ ...plan, gateway }, scanned)
    assert.deepEqual(
      verdict.decisions.map(({ check, decision }) => [check, decision]),
      [
        ['always_blocked', 'refuse'],
        ['gateway', 'allow'],
      ],
    )
  }
})

it('a moderation decision carries the score of the category', async () => {
  const plan = planOf({ denied: [], policies: [], user: '' })
  const { verdict } = await createScene(0).evaluate(plan, { texts: ['bad', 'fine'], direction: 'request' })
  assert.deepEqual([verdict.deciding?.check, verdict.deciding?.scoreBasisPoints], ['requested', 9_000])
})

describe('evaluating a long chat', () => {
  it('gives the same result with and without a cache, under any rules', async () => {
    const cached = createScene(1_000)
    const uncached = createScene(0)
    const plans = [
      { denied: [], policies: [], user: '' },
      { denied: ['gate'], policies: [], user: '' },
      { denied: [], policies: [policy], user: 'ada' },
      { denied: [], policies: [policy], user: 'bob' },
    ].map(planOf)
    const texts = fc.array(
      fc.oneof(
        { weight: 20, arbitrary: fc.constantFrom('one', 'two', 'three', 'onetwo') },
        { weight: 1, arbitrary: fc.constantFrom('bad', 'the gate', 'ada', 'bob', 'a@example.org', '') },
      ),
      { maxLength: 80, size: 'max' },
    )
    await fc.assert(
      fc.asyncProperty(texts, async (some) => {
        const scanned = { texts: some, direction: 'request' } as const
        for (const plan of [...plans, ...plans])
          assert.deepEqual(await cached.evaluate(plan, scanned), await uncached.evaluate(plan, scanned))
      }),
    )
  })

  it('classifies only new texts, however many came before', async () => {
    const { evaluate, classifier } = createScene(1_000)
    const plan = planOf({ denied: [], policies: [], user: '' })
    await evaluate(plan, { texts: cleanTexts(50), direction: 'request' })
    assert.equal(classifier.calls, 50)
    await evaluate(plan, { texts: cleanTexts(52), direction: 'request' })
    assert.equal(classifier.calls, 52)
  })

  it('does not cache a provisional classification as clean', async () => {
    const { evaluate, classifier } = createScene(1_000)
    const plan = planOf({ denied: [], policies: [], user: '' })
    classifier.isProvisional = true
    await evaluate(plan, { texts: cleanTexts(16), direction: 'request' })
    classifier.isProvisional = false
    for (const _ of [1, 2]) await evaluate(plan, { texts: cleanTexts(16), direction: 'request' })
    assert.equal(classifier.calls, 32)
  })

  it('does not confuse two runs whose texts are split at different positions', async () => {
    const { evaluate } = createScene(1_000)
    const plan = planOf({ denied: ['no gate'], policies: [], user: '' })
    const before = cleanTexts(15)
    const cut = await evaluate(plan, { texts: ['say no', ' gate now', ...before], direction: 'request' })
    assert.equal(cut.verdict.decision, 'allow')
    const joined = await evaluate(plan, { texts: ['say no gate', ' now', ...before], direction: 'request' })
    assert.equal(joined.verdict.decision, 'refuse')
  })
})
