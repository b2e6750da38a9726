import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { RuleFacts } from '../../domain/policy/rule.ts'
import { createCelChecker, createCelCompiler } from './cel.ts'

const check = createCelChecker()
const compile = createCelCompiler()

const factsOf = (text: string): RuleFacts => ({
  text,
  direction: 'request',
  model: 'm',
  project: 'p',
  user: 'u',
  metadata: {},
  categories: {},
  pii: {},
})

const list = `[${Array.from({ length: 300 }, (_, at) => at).join(',')}]`
/** A name for twice the one before, as often as wanted, and what is asked of the last. */
const doubled = (times: number, asked: string): string => {
  const turns = Array.from({ length: times }, (_, at) => times - at)
  return turns.reduce((body, turn) => `cel.bind(t${turn}, t${turn - 1} + t${turn - 1}, ${body})`, `t${times}.${asked}`)
}

describe('an expression that wants too much', () => {
  for (const [says, expression, text] of [
    ['macros within macros', `cel.bind(l, ${list}, l.all(a, l.all(b, l.all(c, l.all(d, true)))))`, ''],
    [
      'macros within macros whose mistakes are forgiven',
      `cel.bind(l, ${list}, l.exists(a, l.exists(b, l.exists(c, 1 / 0 == a)))) || true`,
      '',
    ],
    ['lists that double', `cel.bind(t0, ${list}, ${doubled(40, 'size() > 0')})`, ''],
    ['a text that doubles', `cel.bind(t0, text, ${doubled(40, 'contains("x")')})`, 'a'.repeat(100)],
    [
      'a text added up in a loop',
      `cel.bind(l, ${list}, l.map(i, l.map(j, text + text)).size() > 0)`,
      'a'.repeat(10_000),
    ],
    [
      'a search in a long text in a loop',
      `cel.bind(l, ${list}, l.all(i, l.all(j, !text.contains("b"))))`,
      'a'.repeat(100_000),
    ],
    ['a needle as bad as its haystack', `text.contains(text.substring(0, 50000) + "b")`, 'a'.repeat(200_000)],
    [
      'patterns made in a loop',
      `cel.bind(l, ${list}, l.all(i, l.all(j, !text.matches("(a?){100}b" + string(i * 300 + j)))))`,
      'a'.repeat(100),
    ],
    [
      'a pattern that makes states without end, on a long text',
      'text.matches("(a|b)*a(a|b){100}[cd]")',
      'ab'.repeat(200_000),
    ],
  ] as const) {
    it(`is stopped: ${says}`, () => {
      assert.equal(check(expression), undefined)
      assert.deepEqual(compile(expression).evaluate(factsOf(text)), { failed: 'expression_cost' })
    })
  }

  it('costs the same whenever it is asked', () => {
    const compiled = compile('text.matches("(a|b)*a(a|b){20}[cd]")')
    const longest = 'ab'.repeat(100_000)
    assert.deepEqual(compiled.evaluate(factsOf(longest)), compiled.evaluate(factsOf(longest)))
  })

  it('is not even saved where its pattern is too large', () => {
    for (const pattern of [
      'a{999}'.repeat(80),
      '(((a{10}){10}){10}){10}',
      `(${'x'.repeat(400)}){900}`,
      '(a|b){1001}',
    ]) {
      const problem = check(`direction == "request" && text.matches("${pattern}")`)
      assert.match(problem?.message ?? '', /^The pattern cannot be used: /)
      assert.equal(problem?.line, 1)
    }
  })

  it('is not even saved where its pattern is none, or is no linear one', () => {
    for (const pattern of ['(', '(?=a)', '(a)\\\\1', '[z-a]', '*']) {
      const problem = check(`direction == "request" &&\n  text.matches("${pattern}")`)
      assert.match(problem?.message ?? '', /^The pattern cannot be used: /)
      assert.equal(problem?.line, 2)
    }
  })
})

describe('an ordinary rule on a long text', () => {
  const long = 'The quick brown fox jumps over the lazy dog. '.repeat(20_000)
  for (const expression of [
    'text.contains("Falcon")',
    'text.lowerAscii().contains("project falcon") || text.matches("(?i)code name")',
    'text.matches("(?i)\\\\bproject\\\\s+falcon\\\\b")',
  ]) {
    it(`is affordable: ${expression}`, () =>
      assert.deepEqual(compile(expression).evaluate(factsOf(long)), { value: false }))
  }
})

describe('what a rule is not offered', () => {
  for (const [expression, says] of [
    ['timestamp("2026-01-01T00:00:00Z") == timestamp(1)', /timestamp\(\) is not offered/],
    ['text.split("").size() > 3', /split\(\) is not offered/],
    ['["a"].join("b") == "ab"', /join\(\) is not offered/],
    ['bytes(text).size() > 3', /bytes\(\) is not offered/],
    ['type(text) == string', /type\(\) is not offered/],
    ['dyn(text) == 1', /dyn\(\) is not offered/],
    ['1u == 1u', /unsigned/],
    ['b"a" == b"a"', /Bytes/],
    ['pii["emails"] > 0', /There is no emails in it; there is email, phone/],
    ['categories.hatred > 0.5', /There is no hatred/],
  ] as const) {
    it(`${expression} is refused`, () => assert.match(check(expression)?.message ?? '', says))
  }

  it('is refused at its place', () => {
    const { line, column } = check('direction == "request" &&\n  pii["emails"] > 0') ?? {}
    assert.deepEqual([line, column], [2, 3])
  })
})
