import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createCelCompiler } from '../../adapters/expressions/cel.ts'
import { re2Patterns } from '../../adapters/patterns/re2.ts'
import type { RuleScore } from './compiled-rule.ts'
import type { JudgeRequest } from './judge.ts'
import type { RuleFacts } from './rule.ts'
import { createRuleCompiler } from './rule-compiler.ts'

const parts = { compileExpression: createCelCompiler(), patterns: re2Patterns, judge: undefined }
const compile = createRuleCompiler(parts)
const source = (rule: string, versionId = 'polv_1') => ({ rule, versionId, organizationId: 'org_1' })

const calm: RuleFacts = {
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
  compile(source(rule)).score({ ...calm, ...facts })

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
    it(`has failed with ${rule}, which is not the same as a pass`, () => {
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
    ['Block hate speech.', { categories: { ...calm.categories, hate: 0.61 } }, 6_100],
    ['Block hate speech.', {}, 2_000],
    ['Block self-harm and hate.', { categories: { ...calm.categories, 'self-harm': 0.9 } }, 9_000],
    ['No email addresses.', { pii: { email: 1 } }, 10_000],
    ['No email addresses.', { pii: { phone: 3 } }, 0],
    ['No personal data.', { pii: { mac_address: 1 } }, 10_000],
    ['Refuse card numbers and the word "visa".', { text: 'My Visa' }, 10_000],
    // A word between quotes is a phrase, not a category.
    ['Never say "hate".', { categories: { ...calm.categories, hate: 0.99 } }, 0],
    ['No sexual content involving minors.', { categories: { ...calm.categories, sexual: 0.99 } }, 0],
    ['No sexual content involving minors.', { categories: { ...calm.categories, 'sexual/minors': 0.8 } }, 8_000],
  ] as const) {
    it(`${rule} scores ${basisPoints} on ${JSON.stringify(facts)}`, () => {
      assert.deepEqual(score(rule, facts), { basisPoints })
    })
  }

  it('that names nothing was not judged, and nothing has failed', () => {
    for (const rule of ['Be polite.', 'Say " ".', '""']) {
      assert.deepEqual(score(rule), { notEvaluated: 'rule_not_evaluable', isFailure: false })
    }
  })

  it('answers for each text, also when the same ones come again', () => {
    const { score: ask } = compile(source('Never say "red" or "blue".'))
    for (const text of ['red', 'green', 'blue', 'green', 'red']) {
      assert.deepEqual(ask({ ...calm, text }), { basisPoints: text === 'green' ? 0 : 10_000 })
    }
  })

  it('reaches as far as its longest phrase', () => {
    assert.deepEqual(compile(source('Never say "red" or "Project Falcon".')).lookBehind, {
      characters: 14,
      personalData: false,
    })
    assert.deepEqual(compile(source('No email addresses.')).lookBehind, { characters: 0, personalData: true })
  })
})

describe('a rule in plain language, with a judge', () => {
  it('is the judge’s to score, whole texts at a time', async () => {
    const asked: JudgeRequest[] = []
    const judge = async (question: JudgeRequest): Promise<RuleScore> => {
      asked.push(question)
      return { basisPoints: 7_300 }
    }
    const rule = createRuleCompiler({ ...parts, judge })(source('Be polite about "falcons".', 'polv_7'))
    assert.equal(rule.lookBehind, 'whole')
    assert.deepEqual(await rule.score(calm), { basisPoints: 7_300 })
    assert.deepEqual(asked, [
      { rule: 'Be polite about "falcons".', versionId: 'polv_7', text: calm.text, direction: 'request' },
    ])
  })

  it('is not asked about nothing, nor for an expression', async () => {
    const judge = (): never => assert.fail('asked')
    const compiler = createRuleCompiler({ ...parts, judge })
    assert.deepEqual(await compiler(source('Be polite.')).score({ ...calm, text: ' \n' }), { basisPoints: 0 })
    assert.deepEqual(await compiler(source('cel:true')).score(calm), { basisPoints: 10_000 })
  })
})
