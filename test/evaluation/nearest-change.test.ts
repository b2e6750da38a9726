import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import fc from 'fast-check'
import { createBoundedCompiler } from '../../src/adapters/cel/bounded.ts'
import { createExpressionThread } from '../../src/adapters/cel/thread.ts'
import { createEmbeddedClassifier } from '../../src/adapters/classifiers/embedded/classifier.ts'
import { createDecodeBody } from '../../src/app/caller-formats.ts'
import { createSimulation } from '../../src/app/simulation.ts'
import { systemClock } from '../../src/base/clock.ts'
import { collectTexts } from '../../src/domain/audit/event/request-texts.ts'
import type { LoggedEvent } from '../../src/domain/audit/log.ts'
import { emptyRulebook } from '../../src/domain/evaluation/rulebook.ts'
import type { TriedPolicy } from '../../src/domain/evaluation/simulate.ts'
import type { Verdict } from '../../src/domain/evaluation/verdict/combine.ts'
import { verdictFacts } from '../../src/domain/evaluation/verdict/format.ts'
import { versionKey, type EvaluatedRules } from '../../src/domain/explanation/recorded-outcomes.ts'
import { withDefaults } from '../../src/domain/gateway-config/complete.ts'
import type { GatewayConfiguration } from '../../src/domain/gateway-config/configuration.ts'
import { initialContent } from '../../src/domain/policy/content.ts'
import { createRuleCompiler } from '../../src/domain/policy/rule-compiler.ts'
import { textDirections, type TextDirection } from '../../src/domain/scan/classify/classifier.ts'
import { auditDocuments } from '../support/audit-documents.ts'
import { plainContext } from '../support/evaluation-context.ts'

const fragments = [
  'falcon',
  'Project Falcon',
  'FAL-1234',
  'tea',
  'a nice day',
  'write to ada@example.org',
  'card 4111 1111 1111 1111',
  "I can't do this anymore. I want to kill myself tonight.",
  'fаlcon', // with a Cyrillic letter
  Buffer.from('tell me all about the falcon').toString('base64'),
  'The weather will be fine tomorrow, says the report.',
]

const text = fc
  .array(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...fragments) }, fc.string({ unit: 'grapheme' })), {
    minLength: 1,
    maxLength: 6,
  })
  .map((parts) => parts.join(' ').toWellFormed())
  .filter((joined) => joined.trim() !== '')

const some = <T>(...items: readonly T[]): fc.Arbitrary<T[]> => fc.subarray([...items])

const configuration = fc
  .record({
    allowlist: fc.oneof({ weight: 9, arbitrary: fc.constant([]) }, some('tea', 'day')),
    denylist: some('falcon', '/FAL-\\d+/', 'nice day'),
    redact: fc.boolean(),
    response_pattern: fc.constantFrom(null, 'refuse' as const, 'escalate' as const),
    flagged_categories: some('hate' as const, 'illicit' as const),
  })
  .map((rules) => withDefaults({ rules }))

const content = fc
  .record({
    rule: fc.constantFrom(
      'Never mention "Project Falcon".',
      'No self-harm and no email addresses.',
      'cel:text.lowerAscii().contains("falcon")',
      'cel:text.matches("FAL-[0-9]+") || pii["card"] > 0',
      'cel:text.contains("tea") && text.contains("nice")',
      'cel:text.contains("tea") || pii["email"] > 0 ? 0.95 : 0.0',
      'cel:text.matches("FAL-[0-9]+") ? 0.7 : 0.1',
      'cel:categories["self-harm"]',
    ),
    mode: fc.constantFrom('monitoring' as const, 'enforcing' as const),
    matchThresholdBasisPoints: fc.constantFrom(null, 100, 9_000),
  })
  .map((fields) => ({ ...initialContent, ...fields }))

const scenario = fc.record({
  config: configuration,
  policies: fc.array(content, { maxLength: 3 }),
  texts: fc.array(text, { minLength: 1, maxLength: 3 }),
  direction: fc.constantFrom(...textDirections),
})
type Input = typeof scenario extends fc.Arbitrary<infer Value> ? Value : never

describe('the nearest change of an explanation', () => {
  const thread = createExpressionThread({ clock: systemClock, limitMs: 250 })
  after(() => thread[Symbol.asyncDispose]())
  const { simulate, explain } = createSimulation({
    classifier: createEmbeddedClassifier(),
    rulebookOf: () => emptyRulebook,
    compileRule: createRuleCompiler({
      compileExpression: createBoundedCompiler({ clock: systemClock, thread }),
      judge: undefined,
    }),
    clock: systemClock,
    canRephrase: false,
    failsOpen: false,
  })
  const decode = createDecodeBody()

  const requestOf = (texts: readonly string[], direction: TextDirection) => {
    const role = direction === 'request' ? 'user' : 'assistant'
    const messages = direction === 'request' ? texts : [texts.join(' ')]
    return decode('chat', { model: 'm', messages: messages.map((each) => ({ role, content: each })) })
  }

  const evaluate = (
    { config, direction }: Pick<Input, 'config' | 'direction'>,
    tried: readonly TriedPolicy[],
    texts: readonly string[],
  ) =>
    simulate({
      organizationId: 'org_1',
      config,
      policies: { includesInForce: false, tried },
      usesJudge: false,
      scenario: { request: requestOf(texts, direction), direction, categories: [], context: plainContext },
    })

  const passes = (before: Verdict, now: Verdict): boolean =>
    before.effectiveDecision === 'allow' ? now.decision === 'allow' : now.effectiveDecision === 'allow'

  it('lets the text pass, for 1,000 random rules and texts', async (test) => {
    const found = { denied: 0, spans: 0, thresholds: 0, checks: 0 }
    const property = fc.asyncProperty(scenario, async (input) => {
      const tried = input.policies.map((each, at): TriedPolicy => ({
        id: `pol_${at}`,
        name: undefined,
        version: 1,
        content: each,
      }))
      const simulation = await evaluate(input, tried, input.texts)
      const { verdict, plan } = simulation
      const event = eventOf(input, verdictFacts(verdict, { plan, direction: input.direction }))
      const explanation = await explain({ event, rules: rulesOf(input.config, tried, verdict) })
      assert.deepEqual(explanation.differs, [])
      if (verdict.decision !== 'allow') found.denied += 1
      for (const change of explanation.nearest) {
        assert.ok(change.isVerified)
        if (change.change === 'without_text') {
          found.spans += 1
          const changed = withoutText(input, change)
          const again = await evaluate(input, tried, changed)
          assert.ok(passes(verdict, again.verdict), `${JSON.stringify(change)} of ${JSON.stringify(input.texts)}`)
        } else if (change.change === 'threshold') {
          found.thresholds += 1
          const threshold = change.thresholdBasisPoints
          const raised = tried.map((each) =>
            each.id === change.policyId
              ? { ...each, content: { ...each.content, matchThresholdBasisPoints: threshold } }
              : each,
          )
          assert.ok(passes(verdict, (await evaluate(input, raised, input.texts)).verdict), JSON.stringify(change))
        } else if (change.check === 'policy') {
          found.checks += 1
          const rest = tried.filter(({ id }) => id !== change.policyId)
          assert.ok(passes(verdict, (await evaluate(input, rest, input.texts)).verdict), JSON.stringify(change))
        }
      }
    })
    const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
    await fc.assert(property, { numRuns: 1_000, seed })
    test.diagnostic(`seed ${seed}: ${JSON.stringify(found)}`)
    assert.ok(found.spans > 300 && found.thresholds > 3 && found.checks > 20, JSON.stringify(found))
  })
})

type Change = { readonly part: string | null; readonly start: number | null; readonly end: number | null }

function withoutText({ texts, direction }: Input, { part, start, end }: Change): readonly string[] {
  const cut = (whole: string): string => whole.slice(0, start ?? 0) + whole.slice(end ?? 0)
  if (direction === 'response') return [cut(texts.join(' '))]
  return texts.map((each, at) => (part === `messages[${at}]` ? cut(each) : each))
}

function eventOf({ texts, direction }: Input, verdict: ReturnType<typeof verdictFacts>): LoggedEvent {
  const [document] = auditDocuments({ count: 1, facts: { verdict, actor: {}, model: { provider: 'p', name: 'm' } } })
  assert.ok(document)
  const kept =
    direction === 'response'
      ? { full: { response: texts.join(' ') } }
      : collectTexts(
          { messagesOf: () => texts.map((each) => ({ role: 'user', parts: [{ type: 'text', text: each }] })), raw },
          { level: 'full', redact: (each) => each },
        ).content()
  return { id: document.metadata.uid, sequence: 1, document, size: 0, contentSize: 0, content: kept }
}

const raw = createDecodeBody()('chat', { model: 'm', messages: [{ role: 'user', content: 'x' }] }).raw

function rulesOf(gateway: GatewayConfiguration, tried: readonly TriedPolicy[], { decisions }: Verdict): EvaluatedRules {
  const versions = tried.map(({ id, content: ofPolicy }) => {
    const own = { id: `polv_${id}`, version: 1, publishedAtMs: 0, publishedBy: null, reason: null }
    return { id, published: { ...ofPolicy, ...own } }
  })
  return {
    gateway,
    policies: new Map(versions.map(({ id, published }) => [versionKey(id, 1), { name: null, published }])),
    unevaluated: versions.filter(({ id }) => !decisions.some(({ policyId }) => policyId === id)),
  }
}
