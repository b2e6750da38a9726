import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { plainContext } from '../../../../test/support/evaluation-context.ts'
import fc from 'fast-check'
import { re2Patterns } from '../../../adapters/patterns/re2.ts'
import { unsaved } from '../../gateway-config/configuration.ts'
import { perCategory } from '../../moderation/categories.ts'
import type { Classification, Classifier } from '../../moderation/classifier.ts'
import { createScanText } from '../../moderation/scan.ts'
import { createEvaluate, type Evaluate } from './evaluate.ts'
import { initialContent } from '../../policy/content.ts'
import { planFor, type Plan } from '../rules/plan.ts'
import type { ActivePolicy } from '../rules/rulebook.ts'
import { compileGateway } from '../rules/rulebooks.ts'

/** Flags hate where it reads the word `bad`; longer texts score higher. Counts what it reads. */
function createFake(): Classifier & { reads: number; isProvisional: boolean } {
  return {
    reads: 0,
    isProvisional: false,
    identity: { id: 'fake', version: '1', digest: '' },
    classify(text): Classification {
      this.reads += 1
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

function createScene(memory: number): { examine: Evaluate; classifier: ReturnType<typeof createFake> } {
  const classifier = createFake()
  const screen = createScanText({ classifier, pause, memory })
  return { classifier, examine: createEvaluate({ screen, pause, canRephrase: false, failsOpen: false, memory }) }
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
    reach: 'whole',
    score: ({ text, user }) => ({ basisPoints: user !== '' && text.includes(user) ? 10_000 : 0 }),
  },
}

type Rules = { readonly denied: readonly string[]; readonly policies: readonly ActivePolicy[]; readonly user: string }

function planOf({ denied, policies, user }: Rules): Plan {
  const config = { ...unsaved.config, rules: { ...unsaved.config.rules, denylist: denied } }
  const gateway = compileGateway({ ...unsaved, config }, re2Patterns)
  return planFor({ gateway, policies }, { ...plainContext, user, flaggedCategories: ['hate'] })
}

const calm = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `turn ${at} of a chat`)

it('an examination blames no configuration for what is always blocked, named in it or not', async () => {
  const { examine } = createScene(0)
  for (const flagged of [[], ['self-harm']] as const) {
    const plan = planOf({ denied: [], policies: [], user: '' })
    const rules = { ...plan.gateway.config.rules, flagged_categories: flagged, response_pattern: 'escalate' } as const
    const gateway = { ...plan.gateway, config: { ...plan.gateway.config, rules } }
    const said = { texts: ['fine'], direction: 'request', givenCategories: ['self-harm'] } as const
    const { verdict } = await examine({ ...plan, gateway }, said)
    assert.deepEqual(
      verdict.outcomes.map(({ check, decision }) => [check, decision]),
      [
        ['always_blocked', 'refuse'],
        ['gateway', 'allow'],
      ],
    )
  }
})

it('an examination says how sure moderation was of what it blocks', async () => {
  const plan = planOf({ denied: [], policies: [], user: '' })
  const { verdict } = await createScene(0).examine(plan, { texts: ['bad', 'fine'], direction: 'request' })
  assert.deepEqual([verdict.deciding?.check, verdict.deciding?.scoreBasisPoints], ['requested', 9_000])
})

describe('an examination of a long chat', () => {
  it('says the same whether or not its texts were looked at before, and by whatever rules', async () => {
    const remembering = createScene(1_000)
    const forgetful = createScene(0)
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
        const asked = { texts: some, direction: 'request' } as const
        for (const plan of [...plans, ...plans])
          assert.deepEqual(await remembering.examine(plan, asked), await forgetful.examine(plan, asked))
      }),
    )
  })

  it('reads only what is new, however much came before', async () => {
    const { examine, classifier } = createScene(1_000)
    const plan = planOf({ denied: [], policies: [], user: '' })
    await examine(plan, { texts: calm(50), direction: 'request' })
    assert.equal(classifier.reads, 50)
    await examine(plan, { texts: calm(52), direction: 'request' })
    assert.equal(classifier.reads, 52)
  })

  it('does not take for calm what somebody better should have judged', async () => {
    const { examine, classifier } = createScene(1_000)
    const plan = planOf({ denied: [], policies: [], user: '' })
    classifier.isProvisional = true
    await examine(plan, { texts: calm(16), direction: 'request' })
    classifier.isProvisional = false
    for (const _ of [1, 2]) await examine(plan, { texts: calm(16), direction: 'request' })
    assert.equal(classifier.reads, 32)
  })

  it('takes no text for one that was calm because the two are cut elsewhere', async () => {
    const { examine } = createScene(1_000)
    const plan = planOf({ denied: ['no gate'], policies: [], user: '' })
    const before = calm(15)
    const cut = await examine(plan, { texts: ['say no', ' gate now', ...before], direction: 'request' })
    assert.equal(cut.verdict.decision, 'allow')
    const joined = await examine(plan, { texts: ['say no gate', ' now', ...before], direction: 'request' })
    assert.equal(joined.verdict.decision, 'refuse')
  })
})
