import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createCelChecker } from './cel.ts'

const check = createCelChecker()

describe('the checker of expressions', () => {
  for (const expression of [
    'text.contains("secret")',
    'categories["hate"] > 0.5 || pii["email"] > 0',
    'has(categories.hate) && categories.hate > 0.5',
    'text.matches("(?i)project x") ? 0.9 : 0.1',
    'pii.exists(kind, pii[kind] > 3)',
    'metadata.risk',
    'direction == "request" && user in ["a", "b"] && model != project',
    'size(text)',
  ]) {
    it(`accepts ${expression}`, () => assert.equal(check(expression), undefined))
  }

  it('reports the position of a syntax error', () => {
    assert.deepEqual(check('text =='), {
      from: 7,
      to: 7,
      line: 1,
      column: 8,
      message: 'Unexpected token: EOF',
    })
  })

  it('reports the line and column of a type error', () => {
    const problem = check('direction == "request" &&\n  text > 3')
    assert.equal(problem?.line, 2)
    assert.equal(problem?.column, 3)
    assert.match(problem?.message ?? '', /string > int/)
  })

  it('counts characters, not code units', () => {
    assert.equal(check('"😀" == nobody')?.column, 8)
  })

  it('rejects an unknown variable', () => {
    assert.match(check('txt == ""')?.message ?? '', /Unknown variable: txt/)
  })

  for (const expression of ['text', '[1, 2]', 'categories', 'null']) {
    it(`rejects ${expression}, whose result is neither a boolean nor a number`, () => {
      assert.match(check(expression)?.message ?? '', /must be a boolean or a number/)
    })
  }

  for (const [what, expression] of [
    ['parentheses', '('.repeat(9_000) + '1' + ')'.repeat(9_000)],
    ['negations', '!'.repeat(19_000) + 'true'],
    ['minus signs', '-'.repeat(19_000) + '1'],
    ['a sum of thousands', Array.from({ length: 6_000 }, () => '1').join('+')],
  ] as const) {
    it(`rejects too many nested ${what}`, () => {
      assert.match(check(expression)?.message ?? '', /maxDepth|maxAstNodes|too deeply/)
    })
  }

  it('accepts the longest chain within its limits', () => {
    assert.equal(check(Array.from({ length: 1_000 }, () => '1').join('+')), undefined)
  })

  it('rejects an empty expression', () => assert.notEqual(check(''), undefined))
})
