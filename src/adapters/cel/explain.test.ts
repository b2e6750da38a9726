import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { RuleFacts } from '../../domain/policy/rule.ts'
import { createExplainExpression } from './explain.ts'

const facts: RuleFacts = {
  text: 'Tea for ada@example.org and eve@example.org',
  direction: 'request',
  model: 'm',
  project: 'p',
  user: 'ada',
  metadata: {},
  categories: { hate: 0.75 },
  pii: { email: 2 },
}

const explain = createExplainExpression()
const partsOf = (expression: string): string[] =>
  explain(expression, facts).map(({ source, value, operands }) =>
    [`${source} is ${value}`, ...operands.map((operand) => `${operand.source} = ${operand.value}`)].join(', '),
  )

describe('the parts of an expression that decided', () => {
  it('are the true ones of an alternative', () => {
    assert.deepEqual(partsOf('text.contains("coffee") || pii["email"] > 1'), [
      'pii["email"] > 1 is true, pii["email"] = 2',
    ])
  })

  it('are all of a conjunction that is true, and the false ones of another', () => {
    assert.deepEqual(partsOf('text.contains("Tea") && user == "ada"'), [
      'text.contains("Tea") is true',
      'user == "ada" is true',
    ])
    assert.deepEqual(partsOf('text.contains("Tea") && user == "eve"'), ['user == "eve" is false'])
  })

  it('are the condition of a score, and the branch that was chosen', () => {
    assert.deepEqual(partsOf('!(size(text) < 3) ? 0.9 : 0.1'), ['size(text) < 3 is false, size(text) = 43'])
    assert.deepEqual(partsOf('user == "eve" ? 0.1 : categories["hate"]'), [
      'user == "eve" is false',
      'categories["hate"] is 0.75',
    ])
  })

  it('have whole parentheses', () => {
    assert.deepEqual(partsOf('(pii["email"] + 1) * 2 > 5'), [
      '(pii["email"] + 1) * 2 > 5 is true, (pii["email"] + 1) * 2 = 6',
    ])
  })

  it('never show a string, and have no value if they fail', () => {
    assert.deepEqual(partsOf('text == "x" || metadata.missing == "y"'), [
      'text == "x" is false',
      'metadata.missing == "y" is undefined',
    ])
  })

  it('end with the cost budget', () => {
    const long = { ...facts, text: 'a'.repeat(200_000) }
    const parts = explain('text.matches("(a|b)*c") || text.contains("a")', long)
    assert.ok(parts.length < 2)
  })
})
