import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Environment } from '@marcbachmann/cel-js'
import fc from 'fast-check'
import type { RuleFacts } from '../../domain/policy/rule.ts'
import { createCelChecker, createCelCompiler } from './cel.ts'

const check = createCelChecker()
const compile = createCelCompiler()

const facts: RuleFacts = {
  text: 'Ask Bob about Project Falcon 😀',
  direction: 'request',
  model: 'test-model',
  project: 'proj_1',
  user: 'ann',
  metadata: { team: 'red', level: 3, tags: ['a', 'b'], nested: { deep: true } },
  categories: { 'self-harm': 0, 'sexual/minors': 0, harassment: 0.1, hate: 0.75, illicit: 0, sexual: 0 },
  pii: { email: 2 },
}

const evaluate = (expression: string, other: Partial<RuleFacts> = {}): unknown => {
  assert.equal(check(expression), undefined)
  const result = compile(expression).evaluate({ ...facts, ...other })
  return 'value' in result ? result.value : `failed: ${result.failed}`
}

describe('an expression', () => {
  for (const [expression, value] of [
    ['true', true],
    ['text.contains("Falcon")', true],
    ['text.lowerAscii().contains("project falcon")', true],
    ['text.startsWith("Ask") && text.endsWith("😀")', true],
    ['text.matches("(?i)project\\\\s+falcon")', true],
    ['text.matches("^Falcon")', false],
    ['text.matches("Fal" + "con")', true],
    ['text.indexOf("Bob")', 4n],
    ['text.indexOf("nobody")', -1n],
    ['text.substring(4, 7) == "Bob"', true],
    ['"  x ".trim() == "x"', true],
    ['"B".upperAscii() == "B"', true],
    ['size("a😀") == 2 && "a😀".size() == 2', true],
    ['size(pii) > 5', true],
    ['categories["hate"]', 0.75],
    ['categories.hate > 0.5', true],
    ['categories.hate > 0', true],
    ['pii["email"] > 1', true],
    ['pii.card == 0', true],
    ['pii.exists(kind, pii[kind] > 1)', true],
    ['pii.all(kind, pii[kind] < 2)', false],
    ['["x", "y"].exists_one(word, word == "x")', true],
    ['[1, 2, 3].filter(n, n > 1).size()', 2n],
    ['[1, 2, 3].map(n, n * 2) == [2, 4, 6]', true],
    ['[1, 2, 3].map(n, n > 1, n * 2) == [4, 6]', true],
    ['user in ["ann", "bob"]', true],
    ['"team" in metadata', true],
    ['has(metadata.team) && !has(metadata.other)', true],
    ['has(metadata.nested.deep)', true],
    ['metadata.team == "red"', true],
    ['metadata.level > 2', true],
    ['metadata.tags.exists(tag, tag == "b")', true],
    ['metadata.tags[1] == "b"', true],
    ['metadata["level"] == "3"', false],
    ['{"red": 0.9, "blue": 0.1}["red"]', 0.9],
    ['cel.bind(low, text.lowerAscii(), low.contains("bob") && low.contains("falcon"))', true],
    ['direction == "request" ? 0.25 : 1.0', 0.25],
    ['7 / 2 == 3 && 7 % 2 == 1 && -7 / 2 == -3', true],
    ['1.5 + 0.25', 1.75],
    ['int("12") + int(3.9) == 15', true],
    ['double("0.5")', 0.5],
    ['string(1) + string(true) == "1true"', true],
    ['bool("true")', true],
    ['"b" > "a" && [1] + [2] == [1, 2]', true],
    // One side decides, even if the other fails.
    ['metadata.missing == 1 || true', true],
    ['false && metadata.missing == 1', false],
    ['[0, 1].exists(n, 1 / n == 1)', true],
    ['[0, 1].all(n, 1 / n == 2)', false],
  ] as const) {
    it(`${expression} is ${value}`, () => assert.equal(evaluate(expression), value))
  }

  for (const expression of [
    'metadata.missing == 1',
    'metadata.team > 3',
    'metadata.team && true',
    'metadata.team.contains(metadata.level)',
    'metadata.tags[7] == "x"',
    '1 / (size(text) - size(text)) == 1',
    'metadata.missing == 1 || false',
    '[0, 1].exists(n, 1 / n == 2)',
    'int(text) == 1',
    '9223372036854775807 + size(text) > 0',
    'text.matches(text + "(")',
    'text.matches("(?=" + user + ")")',
    'has(metadata.missing.deep)',
    'cel.bind(all, metadata, all.team)',
  ]) {
    it(`${expression} fails`, () => {
      const result = compile(expression).evaluate(facts)
      if ('value' in result) assert.equal(typeof result.value, 'string') // the last one has a result, but no verdict
      else assert.equal(result.failed, 'expression_error')
    })
  }

  it('keeps no state between two texts', () => {
    const compiled = compile('text.contains("x") && pii.email == 0')
    assert.deepEqual(compiled.evaluate({ ...facts, text: 'x', pii: {} }), { value: true })
    assert.deepEqual(compiled.evaluate({ ...facts, text: 'x' }), { value: false })
    assert.deepEqual(compiled.evaluate({ ...facts, text: 'y', pii: {} }), { value: false })
  })

  it('cannot access inherited properties', () => {
    for (const key of ['constructor', '__proto__', 'toString']) {
      assert.equal(evaluate(`"${key}" in metadata`), false)
      assert.deepEqual(compile(`metadata["${key}"] == 1`).evaluate(facts), { failed: 'expression_error' })
    }
  })
})

const infix = ([left, operator, right]: readonly string[]): string => `(${left} ${operator} ${right})`
const method = ([left, name, right]: readonly string[]): string => `${left}.${name}(${right})`

/** Expressions over strings, numbers and lists, as trees of text. */
const { bool } = fc.letrec<{ bool: string; int: string; text: string; list: string }>((tie) => ({
  bool: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('true', 'false'),
    fc.tuple(tie('bool'), fc.constantFrom('&&', '||', '==', '!='), tie('bool')).map(infix),
    tie('bool').map((part) => `!${part}`),
    fc.tuple(tie('int'), fc.constantFrom('<', '<=', '>', '>=', '==', '!='), tie('int')).map(infix),
    fc.tuple(tie('text'), fc.constantFrom('==', '<', '>='), tie('text')).map(infix),
    fc.tuple(tie('text'), fc.constantFrom('contains', 'startsWith', 'endsWith'), tie('text')).map(method),
    fc
      .tuple(tie('list'), fc.constantFrom('all', 'exists', 'exists_one'))
      .map(([list, name]) => `${list}.${name}(i, i > 1)`),
    fc.tuple(tie('int'), fc.constant('in'), tie('list')).map(infix),
    fc.tuple(tie('bool'), tie('bool'), tie('bool')).map((parts) => `(${parts[0]} ? ${parts[1]} : ${parts[2]})`),
  ),
  int: fc.oneof(
    { maxDepth: 4 },
    fc.integer({ min: 0, max: 9 }).map(String),
    fc.tuple(tie('int'), fc.constantFrom('+', '-', '*', '/', '%'), tie('int')).map(infix),
    tie('text').map((text) => `size(${text})`),
    tie('list').map((list) => `${list}.size()`),
  ),
  text: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('text', 'user', '"a"', '""', '"Bob"'),
    fc.tuple(tie('text'), fc.constant('+'), tie('text')).map(infix),
    tie('text').map((text) => `${text}.lowerAscii()`),
  ),
  list: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('[1]', '[0, 1, 2]', '[3, 3]'),
    fc.tuple(tie('list'), fc.constant('+'), tie('list')).map(infix),
    tie('list').map((list) => `${list}.map(i, i + 1)`),
    tie('list').map((list) => `${list}.filter(i, 6 / i > 2)`),
  ),
}))

describe('the interpreter', () => {
  it('gives the results of the CEL library, and fails where it fails', () => {
    const library = new Environment().registerVariable('text', 'string').registerVariable('user', 'string')
    fc.assert(
      fc.property(bool, (expression) => {
        const result = compile(expression).evaluate(facts)
        const expected = ((): unknown => {
          try {
            return library.evaluate(expression, { text: facts.text, user: facts.user })
          } catch {
            return 'failed'
          }
        })()
        assert.equal('value' in result ? result.value : 'failed', expected, expression)
      }),
      { numRuns: 2_000 },
    )
  })
})
