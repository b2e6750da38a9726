import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { createCelChecker, createCelCompiler } from '../../src/adapters/cel/cel.ts'
import { categories } from '../../src/domain/scan/classify/categories.ts'
import { personalDataKinds } from '../../src/domain/scan/detect/personal-data/kinds.ts'
import { expressionOf, isEvaluable } from '../../src/domain/policy/rule.ts'

const guide = readFileSync(new URL('../../docs/guide/rules.md', import.meta.url), 'utf8')
const expressions = [...guide.matchAll(/^```cel\n(.*?)\n```$/gms)].map(([, rule = '']) => rule)

describe('the guide to rules', () => {
  it('shows expressions', () => assert.ok(expressions.length >= 6))

  for (const rule of expressions) {
    it(`shows one that can be saved and evaluated: ${rule}`, () => {
      const expression = expressionOf(rule) ?? ''
      assert.equal(createCelChecker()(expression), undefined)
      const facts = { text: 'x', direction: 'request', model: '', project: '', user: 'ann', metadata: {}, pii: {} }
      const scores = Object.fromEntries(categories.map((category) => [category, 0]))
      assert.ok('value' in createCelCompiler()(expression).evaluate({ ...facts, categories: scores }))
    })
  }

  it('names every category and every kind of personal data', () => {
    for (const name of [...categories, ...personalDataKinds]) assert.ok(guide.includes(`\`${name}\``), name)
  })

  it('calls rules in plain language by their name', () => {
    assert.equal(isEvaluable('Never mention "Project Falcon" or "Condor".'), true)
    assert.equal(isEvaluable('No hate speech, and no card numbers.'), true)
    assert.equal(isEvaluable('Be polite.'), false)
  })
})
