import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createCelCompiler } from '../../adapters/cel/cel.ts'
import type { RuleScore } from './rule-score.ts'
import type { JudgeRequest } from './judge.ts'
import type { RuleFacts } from './rule.ts'
import { createRuleCompiler } from './rule-compiler.ts'

const parts = { compileExpression: createCelCompiler(), judge: undefined }
const compile = createRuleCompiler(parts)
const source = (rule: string, versionId = 'polv_1') =>
  ({ rule, versionId, organizationId: 'org_1', judgeWindow: 'block' }) as const

const cleanFacts: RuleFacts = {
  text: 'Nothing to see.',
  direction: 'request',
  model: 'm',
  project: 'p',
  user: '',
  metadata: { risk: 0.42, label: 'x' },
  categories: { 'self-harm': 0.01, 'sexual/minors': 0, harassment: 0, hate: 0.2, illicit: 0, sexual: 0 },
  pii: {},
}

const score = (rule: string, facts: Partial<RuleFacts> = {}): RuleScore | Promise<RuleScore> =>
  compile(source(rule)).score({ ...cleanFacts, ...facts })

describe('a rule that is an expression', () => {
  for (const [rule, basisPoints] of [
    ['cel:true', 10_000],
    ['cel:false', 0],
    ['cel:categories["hate"]', 2_000],
    ['cel:0.00005', 1],
    ['cel:1', 10_000],
    ['cel:1.0', 10_000],
    ['cel:metadata.risk', 4_200],
  ] as const) {
    it(`scores ${rule} as ${basisPoints}`, () => assert.deepEqual(score(rule), { basisPoints }))
  }

  for (const [rule, notEvaluated] of [
    ['cel:2', 'expression_result'],
    ['cel:-0.1', 'expression_result'],
    ['cel:0.0 / 0.0', 'expression_result'],
    ['cel:metadata.label', 'expression_result'],
    ['cel:metadata.missing == 1', 'expression_error'],
    ['cel:timestamp(1) == timestamp(2)', 'rule_invalid'],
    ['cel:this is no expression', 'rule_invalid'],
  ] as const) {
    it(`fails on ${rule}, and a failure is not a pass`, () => {
      assert.deepEqual(score(rule), { notEvaluated, isFailure: true })
    })
  }
})

describe('a rule in plain language, without a judge', () => {
  for (const [rule, facts, basisPoints] of [
    ['Never mention "Project Falcon".', { text: 'about PROJECT   FALCON, you know' }, 10_000],
    ['Never mention "Project Falcon".', { text: 'about Project Falconry' }, 0],
    ['Never mention "ass".', { text: 'first class' }, 0],
    ['Never mention “Falcon” or „Condor“.', { text: 'a ｃｏｎｄｏｒ flies' }, 10_000],
    ['Never mention "Falcon".', { text: `please decode ${btoa('tell me about the falcon now')}` }, 10_000],
    ['Never mention "Фалкон".', { text: 'про фалкон' }, 10_000],
    ['Never write "/etc/".', { text: 'see /etc/ there' }, 10_000],
    ['Never write "/[/".', { text: 'an odd /[/ thing' }, 10_000],
    ['Block hate speech.', { categories: { ...cleanFacts.categories, hate: 0.61 } }, 6_100],
    ['Block hate speech.', {}, 2_000],
    ['Block self-harm and hate.', { categories: { ...cleanFacts.categories, 'self-harm': 0.9 } }, 9_000],
    ['No email addresses.', { pii: { email: 1 } }, 10_000],
    ['No email addresses.', { pii: { phone: 3 } }, 0],
    ['No personal data.', { pii: { mac_address: 1 } }, 10_000],
    ['Refuse card numbers and the word "visa".', { text: 'My Visa' }, 10_000],
    // A word between quotes is a phrase, not a category.
    ['Never say "hate".', { categories: { ...cleanFacts.categories, hate: 0.99 } }, 0],
    ['No sexual content involving minors.', { categories: { ...cleanFacts.categories, sexual: 0.99 } }, 0],
    ['No sexual content involving minors.', { categories: { ...cleanFacts.categories, 'sexual/minors': 0.8 } }, 8_000],
  ] as const) {
    it(`${rule} scores ${basisPoints} on ${JSON.stringify(facts)}`, () => {
      assert.deepEqual(score(rule, facts), { basisPoints })
    })
  }

  it('that names no entity is not evaluable, which is not a failure', () => {
    for (const rule of ['Be polite.', 'Say " ".', '""']) {
      assert.deepEqual(score(rule), { notEvaluated: 'rule_not_evaluable', isFailure: false })
    }
  })

  it('scores each text, also a repeated one', () => {
    const { score: scoreText } = compile(source('Never say "red" or "blue".'))
    for (const text of ['red', 'green', 'blue', 'green', 'red']) {
      assert.deepEqual(scoreText({ ...cleanFacts, text }), { basisPoints: text === 'green' ? 0 : 10_000 })
    }
  })

  it('has the length of its longest phrase as its look-behind', () => {
    assert.deepEqual(compile(source('Never say "red" or "Project Falcon".')).lookBehind, {
      characters: 14,
      personalData: false,
      patterns: false,
    })
    assert.deepEqual(compile(source('No email addresses.')).lookBehind, {
      characters: 0,
      personalData: true,
      patterns: false,
    })
  })
})

describe('a rule in plain language, with a judge', () => {
  it('is scored by the judge, on whole texts', async () => {
    const requests: JudgeRequest[] = []
    const judge = async (request: JudgeRequest): Promise<RuleScore> => {
      requests.push(request)
      return { basisPoints: 7_300 }
    }
    const rule = createRuleCompiler({ ...parts, judge: { version: 'judge@1', ask: judge } })(
      source('Be polite about "falcons".', 'polv_7'),
    )
    assert.equal(rule.lookBehind, 'whole')
    assert.deepEqual(await rule.score(cleanFacts), { basisPoints: 7_300 })
    assert.deepEqual(requests, [
      {
        rule: 'Be polite about "falcons".',
        versionId: 'polv_7',
        text: cleanFacts.text,
        direction: 'request',
        organizationId: 'org_1',
        policyId: '',
        threshold: 5_000,
      },
    ])
  })

  it('has the highest score of its paragraphs if the policy judges by paragraph, and none if one of them fails', async () => {
    const judge = async ({ text }: JudgeRequest): Promise<RuleScore> =>
      text.includes('odd')
        ? { notEvaluated: 'judge_timeout', isFailure: true }
        : { basisPoints: text.includes('rude') ? 9_000 : 200 }
    const rule = createRuleCompiler({ ...parts, judge: { version: 'judge@1', ask: judge } })({
      ...source('Be polite.'),
      judgeWindow: 'paragraph',
    })
    assert.equal(rule.lookBehind, 'paragraph')
    const scoreOf = (...words: readonly string[]) =>
      rule.score({ ...cleanFacts, text: words.map((word) => `${`the ${word} gate. `.repeat(40)}\n\n`).join('') })
    assert.deepEqual(await scoreOf('old', 'rude', 'new'), { basisPoints: 9_000 })
    assert.deepEqual(await scoreOf('old', 'new'), { basisPoints: 200 })
    assert.deepEqual(await scoreOf('odd', 'rude'), {
      notEvaluated: 'judge_timeout',
      isFailure: true,
      partBasisPoints: 9_000,
    })
    assert.deepEqual(await rule.score({ ...cleanFacts, text: ' \n' }), { basisPoints: 0 })
  })

  it('does not call the judge for a blank text or an expression', async () => {
    const judge = (): never => assert.fail('the judge was called')
    const compiler = createRuleCompiler({ ...parts, judge: { version: 'judge@1', ask: judge } })
    assert.deepEqual(await compiler(source('Be polite.')).score({ ...cleanFacts, text: ' \n' }), { basisPoints: 0 })
    assert.deepEqual(await compiler(source('cel:true')).score(cleanFacts), { basisPoints: 10_000 })
  })
})
