import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createHandClock } from '../../../test/support/hand-clock.ts'
import { systemClock } from '../../base/clock.ts'
import { isPromise } from '../../base/maybe-promise.ts'
import type { ExpressionResult } from '../../domain/policy/expression.ts'
import type { RuleFacts } from '../../domain/policy/rule.ts'
import { createBoundedCompiler } from './bounded.ts'
import { createExpressionThread, type ExpressionEvaluation } from './thread.ts'

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

/** Within the cost limit, and hundreds of milliseconds of work. */
const slow = 'text.matches("(a|b)*a(a|b){20}[cd]")'
const hostile = Array.from({ length: 300_000 }, (_, at) => 'ab'.charAt((at * at + (at >> 3)) % 2)).join('')
const long = 'The quick brown fox jumps over the lazy dog. '.repeat(20_000)

describe('an expression on the request thread', () => {
  /** Keeps what is sent to the worker thread. */
  const createScene = (clock = createHandClock()) => {
    const sent: ExpressionEvaluation[] = []
    const thread = {
      evaluate: async (evaluation: ExpressionEvaluation): Promise<ExpressionResult> => {
        sent.push(evaluation)
        return { value: 'elsewhere' }
      },
    }
    const compile = createBoundedCompiler({ clock: clock.clock, thread })
    return { clock, sent, compile: (expression: string) => compile(expression, 'org_1') }
  }

  it('is evaluated synchronously if it is cheap', () => {
    const { compile, sent } = createScene()
    assert.deepEqual(compile('text.matches("(?i)falcon")').evaluate(factsOf('A Falcon.')), { value: true })
    assert.deepEqual(compile('text.contains("Falcon")').evaluate(factsOf(long.slice(0, 500_000))), { value: false })
    assert.deepEqual(compile('1 / 0 == 1').evaluate(factsOf('')), { failed: 'expression_error' })
    assert.equal(sent.length, 0)
  })
  for (const [what, expression, text] of [
    ['a pattern over a long text', slow, hostile],
    ['an ordinary pattern over a long text', 'text.matches("(?i)code name")', long],
    ['loops within loops', `cel.bind(l, [${'1,'.repeat(299)}1], l.all(a, l.all(b, a + b > 0)))`, ''],
    ['a search string as repetitive as its text', 'text.contains(text.substring(0, 1000) + "b")', 'a'.repeat(100_000)],
    ['a text that is copied repeatedly', '(text + text + text).lowerAscii().upperAscii() == ""', long],
  ] as const) {
    it(`moves to the worker thread if it is expensive: ${what}`, async () => {
      const { compile, sent } = createScene()
      const facts = factsOf(text)
      assert.deepEqual(await compile(expression).evaluate(facts), { value: 'elsewhere' })
      assert.deepEqual(sent, [{ expression, facts, organizationId: 'org_1' }])
    })
  }
  it('waits for the next event loop iteration if earlier evaluations took long', async () => {
    const { compile, clock } = createScene()
    const { evaluate } = compile('text == "x"')
    assert.deepEqual(evaluate(factsOf('x')), { value: true })
    clock.advance(5)
    const second = evaluate(factsOf('x'))
    assert.ok(isPromise(second))
    assert.deepEqual(await second, { value: true })
    await new Promise(setImmediate)
    assert.deepEqual(evaluate(factsOf('x')), { value: true })
  })
})

describe('the worker thread for expensive evaluations', () => {
  it('gives the same results, and stops at the same cost', async () => {
    await using thread = createExpressionThread({ clock: systemClock, limitMs: 60_000 })
    const compile = createBoundedCompiler({ clock: systemClock, thread })
    const evaluate = (expression: string, text: string) => compile(expression, 'org_1').evaluate(factsOf(text))
    assert.deepEqual(await evaluate('text.matches("(?i)code name")', `${long} Code name`), { value: true })
    assert.deepEqual(await evaluate('text.matches("(?i)code name") || pii["email"] > 0', long), { value: false })
    assert.deepEqual(await evaluate('text.matches("(a|b)*a(a|b){100}[cd]")', hostile), { failed: 'expression_cost' })
    assert.deepEqual(await evaluate('text.matches("code name") || 1 / 0 == 1', long), { failed: 'expression_error' })
  })
  it('stops an evaluation that takes too long, and continues with the next', async () => {
    const { clock, advance, waiting } = createHandClock()
    await using thread = createExpressionThread({ clock, limitMs: 1 })
    const evaluation = { expression: 'text == "x"', facts: factsOf('x'), organizationId: 'org_1' }
    assert.deepEqual(await thread.evaluate(evaluation), { value: true })
    const cutOff = thread.evaluate({ ...evaluation, expression: slow, facts: factsOf(hostile) })
    const after = thread.evaluate(evaluation)
    // Each check of the time used either ends the evaluation or sets the next timer.
    const checking = setInterval(() => waiting() > 0 && advance(1), 1)
    assert.deepEqual(await cutOff, { failed: 'expression_time' })
    clearInterval(checking)
    assert.deepEqual(await after, { value: true })
  })
  it('serves organizations in round-robin order', async () => {
    await using thread = createExpressionThread({ clock: systemClock, limitMs: 60_000 })
    const ended: string[] = []
    const evaluateFor = (organizationId: string): Promise<unknown> =>
      thread
        .evaluate({ expression: 'text == "x"', facts: factsOf('x'), organizationId })
        .then(() => ended.push(organizationId))
    await Promise.all([...Array.from({ length: 5 }, () => evaluateFor('org_many')), evaluateFor('org_one')])
    assert.ok(ended.indexOf('org_one') <= 1, ended.join())
  })
  it('fails queued evaluations when it is closed', async () => {
    const thread = createExpressionThread({ clock: systemClock, limitMs: 60_000 })
    const evaluation = { expression: slow, facts: factsOf(hostile), organizationId: 'org_1' }
    const both = Promise.all([thread.evaluate(evaluation), thread.evaluate(evaluation)])
    await thread[Symbol.asyncDispose]()
    assert.deepEqual(await both, [{ failed: 'expression_error' }, { failed: 'expression_error' }])
  })
})
