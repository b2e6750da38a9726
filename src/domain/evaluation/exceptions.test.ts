import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { plainContext } from '../../../test/support/evaluation-context.ts'
import { holdBackPolicyOf, prefilterOf } from '../../../test/support/policy-prefilter.ts'
import { policyOf } from '../../../test/support/rule-policy.ts'
import { createEmbeddedClassifier } from '../../adapters/classifiers/embedded/classifier.ts'
import { exceptionsByPolicy } from '../exceptions/covered.ts'
import { textDigest, type ExceptionSubject, type LiveException } from '../exceptions/exception.ts'
import { createScanText } from '../scan/scan.ts'
import { createEvaluate } from './evaluate.ts'
import { planFor, type EvaluationContext, type Plan } from './plan.ts'
import { emptyRulebook, type ActivePolicy } from './rulebook.ts'
import { evaluateBlock } from './stream/evaluate-block.ts'
import { createStreamScanner } from './stream/stream-scanner.ts'
import { combine, isDenied, type Verdict } from './verdict/combine.ts'

const pause = async (): Promise<void> => {}
const classifier = createEmbeddedClassifier()
const shared = { pause, canRephrase: false, failsOpen: false, prefilterOf }
const cached = { ...shared, scanText: createScanText({ classifier, pause, cacheEntries: 100 }), cacheEntries: 100 }
const uncached = { ...shared, scanText: createScanText({ classifier, pause, cacheEntries: 0 }), cacheEntries: 0 }
const evaluate = createEvaluate(cached)
const evaluateUncached = createEvaluate({ ...uncached, reportsDenialsOnly: true })

const planWith = (
  policies: readonly ActivePolicy[],
  exceptions: readonly LiveException[],
  context: Partial<EvaluationContext> = {},
): Plan =>
  planFor(
    { ...emptyRulebook, organizationId: 'org_1', policies, exceptions: exceptionsByPolicy(exceptions) },
    { ...plainContext, ...context },
  )

const falcon = policyOf('Never mention "falcon".', 1)
const exceptionFor = (subject: ExceptionSubject, expiresAtMs = 1_000, id = 'exc_1'): LiveException => ({
  id,
  policyId: falcon.id,
  subject,
  expiresAtMs,
})
const verdictOf = async (plan: Plan, ...texts: readonly string[]): Promise<Verdict> =>
  (await evaluate(plan, { texts, direction: 'request' })).verdict

describe('an exception', () => {
  it('records the decision of its policy and does not enforce it, up to its second', async () => {
    const exceptions = [exceptionFor({ kind: 'user', id: 'ada' })]
    const at = (atMs: number) => verdictOf(planWith([falcon], exceptions, { user: 'ada', atMs }), 'a falcon')
    const before = await at(999)
    assert.deepEqual([before.decision, before.effectiveDecision], ['refuse', 'allow'])
    const { scoreBasisPoints, isEnforced, exceptionId, rolloutMode } = before.deciding ?? {}
    assert.deepEqual([scoreBasisPoints, isEnforced, exceptionId, rolloutMode], [10_000, false, 'exc_1', 'shadow'])
    const after = await at(1_000)
    assert.deepEqual([after.effectiveDecision, after.deciding?.exceptionId], ['refuse', undefined])
  })

  it('covers the key, the user or the project that it names, and nobody else', async () => {
    const context = { credentialId: 'key_1', user: 'ada', project: 'proj_1' }
    const effects = async (subject: ExceptionSubject, other: Partial<EvaluationContext> = {}) =>
      (await verdictOf(planWith([falcon], [exceptionFor(subject)], { ...context, ...other }), 'a falcon'))
        .effectiveDecision
    assert.equal(await effects({ kind: 'key', id: 'key_1' }), 'allow')
    assert.equal(await effects({ kind: 'key', id: 'key_1' }, { credentialId: 'key_2' }), 'refuse')
    assert.equal(await effects({ kind: 'user', id: 'ada' }), 'allow')
    assert.equal(await effects({ kind: 'user', id: 'ada' }, { user: undefined }), 'refuse')
    assert.equal(await effects({ kind: 'project', id: 'proj_1' }), 'allow')
    assert.equal(await effects({ kind: 'project', id: 'proj_1' }, { project: 'proj_2' }), 'refuse')
  })

  it('of several, names the one that ends last', async () => {
    const subject = { kind: 'user', id: 'ada' } as const
    const plan = planWith([falcon], [exceptionFor(subject, 9, 'exc_1'), exceptionFor(subject, 99, 'exc_2')], {
      user: 'ada',
      atMs: 5,
    })
    assert.equal((await verdictOf(plan, 'a falcon')).deciding?.exceptionId, 'exc_2')
  })

  it('does not reach the always blocked categories', async () => {
    const policy = policyOf('cel:categories["self-harm"]', 1)
    const plan = planWith([policy], [exceptionFor({ kind: 'project', id: plainContext.project })])
    const { effectiveDecision, deciding, decisions } = await verdictOf(plan, 'I want to kill myself tonight.')
    assert.deepEqual([effectiveDecision, deciding?.check], ['refuse', 'always_blocked'])
    assert.equal(decisions.find(({ check }) => check === 'policy')?.exceptionId, 'exc_1')
  })

  it('for a text covers that text only, also beside others, and not in a longer one', async () => {
    const plan = planWith([falcon], [exceptionFor({ kind: 'text', digests: [textDigest('a falcon')] })])
    const effect = async (...texts: readonly string[]) => (await verdictOf(plan, ...texts)).effectiveDecision
    assert.equal(await effect('a falcon'), 'allow')
    assert.equal(await effect('good day', 'a falcon', 'tea'), 'allow')
    assert.equal(await effect('a falcon', 'the falcon'), 'refuse')
    assert.equal(await effect('a falcon!'), 'refuse')
    const after = planWith([falcon], [exceptionFor({ kind: 'text', digests: [textDigest('a falcon')] })], {
      atMs: 1_000,
    })
    assert.equal((await verdictOf(after, 'a falcon')).effectiveDecision, 'refuse')
  })

  it('for a joined text covers the parts that it is made of', async () => {
    const joined = 'a falcon\ntea'
    const plan = planWith([falcon], [exceptionFor({ kind: 'text', digests: [textDigest(joined)] })])
    const evaluated = (texts: string[], joinedFragments: string[]) =>
      evaluate(plan, { texts, joinedFragments, direction: 'request' })
    assert.equal((await evaluated(['a falcon', 'tea'], [joined])).verdict.effectiveDecision, 'allow')
    assert.equal((await evaluated(['a falcon', 'coffee'], ['a falcon\ncoffee'])).verdict.effectiveDecision, 'refuse')
  })
})

const words = ['falcon', 'tea', 'a nice day', 'write to ada@example.org', 'long '.repeat(60), 'fаlcon', '\n\n']
const text = fc
  .array(fc.constantFrom(...words), { minLength: 1, maxLength: 6 })
  .map((all) => all.join(' '))
  .filter((all) => all.trim() !== '')
const policies = fc.subarray(
  [
    falcon,
    policyOf('cel:text.contains("tea")', 2),
    policyOf('No email addresses.', 3),
    policyOf('cel:user == "ada"', 4),
    { ...policyOf('Never mention "nice".', 5), mode: 'monitoring' as const },
  ],
  { minLength: 1 },
)
const subject = (texts: readonly string[]): fc.Arbitrary<ExceptionSubject> =>
  fc.oneof(
    fc.record({ kind: fc.constant('user' as const), id: fc.constantFrom('ada', 'bob') }),
    fc.record({ kind: fc.constant('key' as const), id: fc.constantFrom('key_1', 'key_2') }),
    fc.record({ kind: fc.constant('project' as const), id: fc.constantFrom('p', 'q') }),
    fc.record({ kind: fc.constant('text' as const), digests: fc.constant(texts.map(textDigest)) }),
  )
const context = fc.record({
  user: fc.constantFrom('ada', 'bob', undefined),
  credentialId: fc.constantFrom('key_1', 'key_3'),
  project: fc.constantFrom('p', 'q'),
  atMs: fc.constantFrom(0, 999, 1_000),
})
type Context = typeof context extends fc.Arbitrary<infer Value> ? Value : never

const isCovered = ({ subject: of, expiresAtMs }: LiveException, { user, credentialId, project, atMs }: Context) =>
  atMs < expiresAtMs && (of.kind === 'text' || of.id === { user, key: credentialId, project }[of.kind])

describe('an evaluation with exceptions', () => {
  const given = text.chain((one) =>
    fc.record({
      text: fc.constant(one),
      policies,
      context,
      exceptions: fc.array(
        fc.record({
          id: fc.constantFrom('exc_1', 'exc_2'),
          policyId: fc.integer({ min: 1, max: 5 }).map((at) => `pol_${at}`),
          subject: subject([one]),
          expiresAtMs: fc.constantFrom(500, 1_000, 2_000),
        }),
        { maxLength: 4 },
      ),
    }),
  )

  it('has the verdict of the plan that does not enforce the policies of its exceptions', async () => {
    await fc.assert(
      fc.asyncProperty(given, async ({ text: one, policies: all, context: of, exceptions }) => {
        const verdict = await verdictOf(planWith(all, exceptions, of), one)
        const covered = new Set(exceptions.filter((each) => isCovered(each, of)).map(({ policyId }) => policyId))
        const plain = await verdictOf(planWith(all, [], of), one)
        const expected = combine(
          plain.decisions.map((each) => (covered.has(each.policyId ?? '') ? { ...each, isEnforced: false } : each)),
        )
        assert.deepEqual([verdict.decision, verdict.effectiveDecision], [expected.decision, expected.effectiveDecision])
        assert.deepEqual(
          verdict.decisions.map(({ decision, scoreBasisPoints }) => [decision, scoreBasisPoints]),
          plain.decisions.map(({ decision, scoreBasisPoints }) => [decision, scoreBasisPoints]),
        )
      }),
      { numRuns: 300 },
    )
  })

  it('gives a response the same verdict whether it is streamed in pieces or arrives at once', async () => {
    await fc.assert(
      fc.asyncProperty(given, fc.integer({ min: 1, max: 40 }), async (of, length) => {
        const plan = planWith(of.policies, of.exceptions, of.context)
        const parts = { plan, holdBack: holdBackPolicyOf(plan, false), evaluate, evaluateUncached, pause, classifier }
        const { verdict } = (await evaluateBlock(parts, of.text)).evaluation
        const scanner = createStreamScanner(parts)
        let denied = false
        for (let at = 0; at < of.text.length && !denied; at += length) {
          scanner.push(of.text.slice(at, at + length))
          denied = (await scanner.scan()) !== undefined
        }
        denied ||= isDenied((await scanner.end()).verdict)
        assert.equal(denied, isDenied(verdict))
      }),
      { numRuns: 200 },
    )
  })
})
