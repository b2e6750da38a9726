import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Fault } from '../../base/fault.ts'
import { checkRule, expressionOf, isEvaluable, problemOfRule } from './rule.ts'

describe('a rule', () => {
  it('is an expression if it starts with cel:, and plain language otherwise', () => {
    assert.equal(expressionOf('cel:true'), 'true')
    assert.equal(expressionOf('No cel: here'), undefined)
    assert.equal(expressionOf(' cel:true'), undefined)
  })

  it('in plain language is not checked', () => {
    checkRule('Be kind. ((', () => assert.fail('not an expression'))
  })

  it('reports the position of a problem from the start of the rule', () => {
    const problem = (line: number) => () => ({ from: 2, to: 4, line, column: 3, message: 'is wrong' })
    assert.throws(() => checkRule('cel:a', problem(1)), faultWith('rule: line 1, column 7: is wrong'))
    assert.throws(() => checkRule('cel:a\nb', problem(2)), faultWith('rule: line 2, column 3: is wrong'))
    const { from, to } = problemOfRule('cel:a', problem(1)) ?? assert.fail()
    assert.deepEqual([from, to], [6, 8])
  })

  for (const rule of [
    'cel:true',
    'Never say "project x".',
    'Never say “project x”.',
    "Don't mention 'project x'",
    'Block self-harm.',
    'No hate speech',
    'Do not give out email addresses',
    'Refuse card numbers',
  ]) {
    it(`can be evaluated without a model: ${rule}`, () => assert.equal(isEvaluable(rule), true))
  }

  for (const rule of ['Be polite.', "Don't be rude, it isn't nice", 'whatever', 'Answer in the customer’s language']) {
    it(`needs a model: ${rule}`, () => assert.equal(isEvaluable(rule), false))
  }
})

const faultWith = (message: string) => (error: unknown) =>
  error instanceof Fault && error.kind === 'validation' && error.message === message && error.details.param === 'rule'
