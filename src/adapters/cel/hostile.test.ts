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
/** Binds a name to twice the previous value, several times, and calls a method on the last. */
const doubled = (times: number, call: string): string => {
  const turns = Array.from({ length: times }, (_, at) => times - at)
  return turns.reduce((body, turn) => `cel.bind(t${turn}, t${turn - 1} + t${turn - 1}, ${body})`, `t${times}.${call}`)
}

describe('an expression that is too expensive', () => {
  for (const [title, expression, text] of [
    ['macros within macros', `cel.bind(l, ${list}, l.all(a, l.all(b, l.all(c, l.all(d, true)))))`, ''],
    [
      'macros within macros whose errors are swallowed',
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
    ['a search string as repetitive as its text', `text.contains(text.substring(0, 50000) + "b")`, 'a'.repeat(200_000)],
    [
      'patterns made in a loop',
      `cel.bind(l, ${list}, l.all(i, l.all(j, !text.matches("(a?){100}b" + string(i * 300 + j)))))`,
      'a'.repeat(100),
    ],
    [
      'a pattern with an exponential number of states, on a long text',
      'text.matches("(a|b)*a(a|b){100}[cd]")',
      'ab'.repeat(200_000),
    ],
  ] as const) {
    it(`is stopped: ${title}`, () => {
      assert.equal(check(expression), undefined)
      assert.deepEqual(compile(expression).evaluate(factsOf(text)), { failed: 'expression_cost' })
    })
  }

  it('costs the same at every evaluation', () => {
    const compiled = compile('text.matches("(a|b)*a(a|b){20}[cd]")')
    const longest = 'ab'.repeat(100_000)
    assert.deepEqual(compiled.evaluate(factsOf(longest)), compiled.evaluate(factsOf(longest)))
  })

  it('is rejected when saved if its pattern is too large', () => {
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

  it('is rejected when saved if its pattern is invalid or not linear', () => {
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

describe('an unsupported function', () => {
  for (const [expression, message] of [
    ['timestamp("2026-01-01T00:00:00Z") == timestamp(1)', /timestamp\(\) is not supported/],
    ['text.split("").size() > 3', /split\(\) is not supported/],
    ['["a"].join("b") == "ab"', /join\(\) is not supported/],
    ['bytes(text).size() > 3', /bytes\(\) is not supported/],
    ['type(text) == string', /type\(\) is not supported/],
    ['dyn(text) == 1', /dyn\(\) is not supported/],
    ['1u == 1u', /unsigned/],
    ['b"a" == b"a"', /Bytes/],
    ['pii["emails"] > 0', /There is no key emails; the keys are email, phone/],
    ['categories.hatred > 0.5', /There is no key hatred/],
  ] as const) {
    it(`${expression} is rejected`, () => assert.match(check(expression)?.message ?? '', message))
  }

  it('is reported with its position', () => {
    const { line, column } = check('direction == "request" &&\n  pii["emails"] > 0') ?? {}
    assert.deepEqual([line, column], [2, 3])
  })
})
