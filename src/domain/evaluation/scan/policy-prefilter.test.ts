import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { prefilterOf } from '../../../../test/support/policy-prefilter.ts'
import { policyOf } from '../../../../test/support/rule-policy.ts'
import { chunksOf, cutting, reportsOf } from '../../../../test/support/detector.ts'
import { perCategory } from '../../scan/classify/categories.ts'
import type { RuleFacts } from '../../policy/rule.ts'

const pause = async (): Promise<void> => {}

const factsOf = (text: string, other: Partial<RuleFacts> = {}): RuleFacts => ({
  text,
  direction: 'response',
  model: 'm',
  project: 'p',
  user: 'ann',
  metadata: { team: 'red' },
  categories: perCategory(() => 0.1),
  pii: {},
  ...other,
})

/** A text is searched only for many rules; a few are evaluated without a search. */
const fillers = Array.from({ length: 12 }, (_, at) => [
  policyOf(`Never mention "filler${at}".`),
  policyOf(`cel:text.contains("filler${at}")`),
  policyOf(`cel:text.matches("filler${at}$")`),
  policyOf(`cel:text.matches("[yz]{3}${at}$")`),
]).flat()

const candidatesOf = async (rules: readonly string[], facts: RuleFacts): Promise<readonly string[]> => {
  const marks = await prefilterOf([...rules.map(policyOf), ...fillers]).candidates(facts, pause)
  return rules.filter((_, at) => marks[at] === 1)
}

describe('the candidates among policies', () => {
  const rules = [
    'cel:text.contains("falcon")',
    'cel:text.lowerAscii().contains("condor") || text.matches("(?i)\\\\beagle\\\\b")',
    'cel:user == "ann" && text.contains("heron")',
    'cel:categories.hate > 0.8',
    'cel:pii.email + pii.phone >= 2',
    'Never mention "project owl".',
    'No phone numbers.',
    'cel:text.contains("stork") ? 1.0 : text.contains("crane") ? 0.5 : 0.0',
  ]

  it('are none for a text that no rule names', async () => {
    assert.deepEqual(await candidatesOf(rules, factsOf('a plain text about a project')), [])
  })

  it('are those whose literal, pattern, phrase, score or personal data is there', async () => {
    const found = (text: string, other?: Partial<RuleFacts>): Promise<readonly string[]> =>
      candidatesOf(rules, factsOf(text, other))
    assert.deepEqual(await found('the falcon'), [rules[0]])
    assert.deepEqual(await found('CONDOR'), [rules[1]])
    assert.deepEqual(await found('an Eagle'), [rules[1]])
    assert.deepEqual(await found('heron'), [rules[2]])
    assert.deepEqual(await found('x', { categories: { ...perCategory(() => 0), hate: 0.81 } }), [rules[3]])
    assert.deepEqual(await found('x', { pii: { email: 1 } }), [rules[4]])
    assert.deepEqual(await found('Project\n ОWL'), [rules[5]])
    assert.deepEqual(await found('a stork'), [rules[7]])
    assert.deepEqual(await found('a crane'), [rules[7]])
    assert.deepEqual(await found('the project \n Owl'), [rules[5]])
    assert.deepEqual(await found('x', { pii: { phone: 1 } }), [rules[4], rules[6]])
  })

  it('include a rule whose pattern does not match a text that contains its literal', async () => {
    assert.deepEqual(await candidatesOf(rules, factsOf('about eagles')), [rules[1]])
  })

  it('include a phrase that is encoded in the text', async () => {
    const encoded = Buffer.from('this is about project owl and more').toString('base64')
    assert.deepEqual(await candidatesOf(rules, factsOf(`see ${encoded}`)), [rules[5]])
  })

  it('include every rule without a known condition', async () => {
    const others = [
      'cel:!text.contains("falcon")',
      'cel:size(text) > 3',
      'cel:user == "ann"',
      'cel:text.contains(user)',
      'cel:text.contains("")',
      'cel:text.contains("a") ? 0.9 : 0.1',
      'cel:cel.bind(t, text, t.contains("falcon"))',
      'cel:metadata.tags.exists(tag, tag == "b") && text.contains("falcon")',
      'cel:pii.email >= 0',
      'Be kind.',
    ]
    assert.deepEqual(await candidatesOf(others, factsOf('plain')), others)
  })

  it('include the rules of a kind of which there are few', async () => {
    const few = ['cel:text.contains("falcon")', 'Never mention "project owl".']
    const marks = await prefilterOf(few.map(policyOf)).candidates(factsOf('plain'), pause)
    assert.deepEqual([...marks], [1, 1])
  })

  it('include a rule that would exceed its cost budget on a long text', async () => {
    const expensive = ['cel:text.matches("(a|b)*a(a|b){100}[cd]")', 'cel:text.contains("falcon")']
    assert.deepEqual(await candidatesOf(expensive, factsOf('x'.repeat(1_000))), [])
    assert.deepEqual(await candidatesOf(expensive, factsOf('x'.repeat(200_000))), [expensive[0]])
  })

  it('of a long text are found with pauses', async () => {
    let pauses = 0
    const facts = factsOf(`${'plain words '.repeat(20_000)} falcon`)
    const policies = [policyOf('cel:text.contains("falcon")'), ...fillers]
    const marks = await prefilterOf(policies).candidates(facts, async () => void (pauses += 1))
    assert.deepEqual([marks[0], marks[1]], [1, 0])
    assert.ok(pauses >= 3)
  })
})

const words = fc.constantFrom('ab', 'AB', 'a', 'k', 'ß', 'ss', 'İ', 'é', '', 'Bob', '\u212a')
const patterns = fc.constantFrom('(?i)abb+', 'Bob.*ann', '(abb|Bob)+', '(?i)b*ann$', 'k+s', '^ab', '\\\\A(Bob|k+)')
const names = fc.constantFrom('hate', 'sexual')
const kinds = fc.constantFrom('email', 'phone')
const numbers = fc.constantFrom('0.0', '0.1', '0.5', '1.0')
const integers = fc.constantFrom('0', '1', '2')
const operators = fc.constantFrom('>', '>=', '<', '<=')

const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc
      .tuple(fc.constantFrom('contains', 'startsWith', 'endsWith', 'matches'), fc.oneof(words, patterns))
      .map(([method, word]) => `text.${method}("${word}")`),
    fc
      .tuple(
        fc.constantFrom('lowerAscii', 'upperAscii'),
        fc.constantFrom('contains', 'endsWith', 'matches'),
        fc.oneof(words, patterns, fc.constantFrom('k[a-z]*b', 'SS+|İ', '^[A-K]B')),
      )
      .map(([fold, method, word]) => `text.${fold}().${method}("${word}")`),
    fc.tuple(names, operators, numbers).map(([name, operator, bound]) => `categories.${name} ${operator} ${bound}`),
    fc.tuple(numbers, operators, names).map(([bound, operator, name]) => `${bound} ${operator} categories["${name}"]`),
    fc.tuple(kinds, kinds, integers).map(([left, right, bound]) => `pii.${left} + pii.${right} > ${bound}`),
    fc.tuple(kinds, operators, integers).map(([kind, operator, bound]) => `pii["${kind}"] ${operator} ${bound}`),
    fc.constantFrom('user == "ann"', 'metadata.missing == 1', 'metadata.team == "red"', 'true', 'false', '1 / 0 == 1'),
    fc.tuple(tie('expression'), fc.constantFrom('||', '&&'), tie('expression')).map((parts) => `(${parts.join(' ')})`),
    tie('expression').map((part) => `!(${part})`),
  ),
}))

const rule = fc.oneof(
  expression.map((text) => `cel:${text}`),
  fc.constantFrom(
    'cel:categories.hate',
    'No hate, no emails.',
    'Never "ab a" or "b b".',
    'Not "рост" or “É”.',
    'Be kind.',
  ),
)

const asciiUnits = ['a', 'b', 'B', 'K', 's', 'S', ' ', '  ', 'ab a', ' ab a ', 'Bob', 'ann', 'abb']
const otherUnits = ['\u212a', 'Σ', '😀', 'ß', 'İ', 'ı', 'é', 'É', 'рост']
const textOf = (units: readonly string[]): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...units), maxLength: 12 })
const text = fc.oneof(textOf(asciiUnits), textOf([...asciiUnits, ...otherUnits]))

const facts = fc
  .record({ text, hate: fc.constantFrom(0, 0.00004, 0.00006, 0.1, 0.5, 1), email: fc.nat(2), phone: fc.nat(2) })
  .map((one) =>
    factsOf(one.text, {
      categories: { ...perCategory(() => 0.1), hate: one.hate },
      pii: { ...(one.email > 0 && { email: one.email }), ...(one.phone > 0 && { phone: one.phone }) },
    }),
  )

describe('a prefilter', () => {
  it('leaves out only rules that score 0 and do not fail', async () => {
    const lists = fc.array(rule, { minLength: 1, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(lists, fc.array(facts, { minLength: 4, maxLength: 8 }), async (rules, several) => {
        const policies = [...rules.map(policyOf), ...fillers]
        for (const one of several) {
          const marks = await prefilterOf(policies).candidates(one, pause)
          assert.equal(marks.at(-1), 0)
          for (const [at, source] of rules.entries()) {
            const score = await policies[at]?.rule.score(one)
            if (marks[at] !== 1) assert.deepEqual(score, { basisPoints: 0 }, source)
          }
        }
      }),
      { numRuns: 500 },
    )
  })

  it('counts or holds back in a stream what makes a rule match, however the text is cut', () => {
    const search = fc.oneof(
      words.filter((word) => word !== '').map((word) => `cel:text.contains("${word}")`),
      words.filter((word) => /^[\x21-\x7e]+$/.test(word)).map((word) => `cel:text.upperAscii().contains("${word}")`),
      fc.constantFrom('cel:text.matches("\\\\bab+\\\\b")', 'Never "ab a".', 'Never "рост".'),
      fc.constantFrom('cel:text.matches("^ab a")', 'cel:text.matches("\\\\A(Bob|k+)")'),
      fc.constantFrom('cel:text.lowerAscii().matches("k[a-z]*b")', 'cel:text.upperAscii().matches("^S*B[^A]")'),
    )
    fc.assert(
      fc.property(fc.array(search, { minLength: 1, maxLength: 4 }), text, cutting, (rules, whole, cuts) => {
        const policies = rules.map(policyOf)
        const reports = reportsOf(prefilterOf(policies).startDetector(), chunksOf(`${whole} .`, cuts))
        for (const [at, report] of reports.entries()) {
          assert.ok(report.settledTo >= (reports[at - 1]?.settledTo ?? 0), 'the position falls')
          const again = prefilterOf(policies).startDetector()
          again.push(report.text, report.text)
          assert.deepEqual([again.matched(), again.settledTo()], [report.matched, report.settledTo])
        }
        const isMatch = policies.some((policy) => {
          const score = policy.rule.score(factsOf(`${whole} .`))
          return 'basisPoints' in score && score.basisPoints > 0
        })
        if (isMatch) assert.ok((reports.at(-1)?.matched ?? 0) > 0)
      }),
      { numRuns: 3_000 },
    )
  })

  it('knows from which score of a category a policy may match', () => {
    const policies = [
      policyOf('cel:categories.hate > 0.8'),
      policyOf('cel:categories.hate >= 0.7 && user == "bob"'),
      policyOf('Block harassment.'),
      { ...policyOf('cel:categories["sexual"]'), matchThresholdBasisPoints: 3_000 },
    ]
    const { categoryBounds, isComplete } = prefilterOf(policies)
    assert.deepEqual(categoryBounds, {
      ...perCategory(() => Infinity),
      hate: 0.7,
      harassment: 0.49995,
      sexual: 0.29995,
    })
    assert.equal(isComplete, true)
    assert.equal(prefilterOf([...policies, policyOf('cel:user == "ann"')]).isComplete, false)
  })

  it('is shared by lists of the same policies', () => {
    const [first, second] = [policyOf('cel:text.contains("a")'), policyOf('Never "b".')]
    assert.equal(prefilterOf([first, second]), prefilterOf([first, second]))
    assert.notEqual(prefilterOf([first, second]), prefilterOf([first, { ...second, matchThresholdBasisPoints: 1 }]))
  })
})
