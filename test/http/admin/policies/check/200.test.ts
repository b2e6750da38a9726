import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorOf, type Json } from '../../../../support/administration.ts'
import { adminSuite } from '../../../../support/admin-suite.ts'

const whole = { whole_text: true, characters: null, personal_data: false }

describe('checking a rule', () => {
  const { send, admin } = adminSuite()
  const check = async (rule: string): Promise<Json> => {
    const { status, body } = await send('POST', '/policies/check', { rule })
    assert.equal(status, 200)
    return body
  }

  it('reports what an expression reads, and that it needs the whole text', async () => {
    assert.deepEqual(await check('cel:text.matches("fal+con") && categories["hate"] > 0.2'), {
      object: 'organization.policy.rule_check',
      form: 'cel',
      evaluable: true,
      evaluated_by: 'expression',
      names: [
        { kind: 'pattern', name: 'fal+con' },
        { kind: 'variable', name: 'text' },
        { kind: 'category', name: 'hate' },
        { kind: 'variable', name: 'categories' },
      ],
      reach: whole,
      problems: [],
    })
  })

  it('reports how many characters of a stream an expression holds back', async () => {
    const { reach } = await check('cel:text.contains("falcon") || pii["email"] > 3')
    assert.deepEqual(reach, { whole_text: false, characters: 6, personal_data: true })
  })

  it('reports the most that a pattern usually holds back', async () => {
    const { reach } = await check('cel:text.matches("fal+con")')
    assert.deepEqual(reach, { whole_text: false, characters: 512, personal_data: false })
  })

  it('reports what a rule in plain language names', async () => {
    assert.deepEqual(await check('Never say "Project Falcon", no hate speech, no card numbers.'), {
      object: 'organization.policy.rule_check',
      form: 'plain',
      evaluable: true,
      evaluated_by: 'names',
      names: [
        { kind: 'phrase', name: 'Project Falcon' },
        { kind: 'category', name: 'hate' },
        { kind: 'personal_data', name: 'card' },
      ],
      reach: { whole_text: false, characters: 14, personal_data: true },
      problems: [],
    })
  })

  it('reports a rule that nothing can evaluate', async () => {
    const { evaluable, evaluated_by: by, names, problems } = await check('Be polite.')
    assert.deepEqual([evaluable, by, names, problems], [false, null, [], []])
  })

  it('reports the position of an error in an expression, and does not reject it', async () => {
    const rule = 'cel:text.size() > 3 &&\n  txt == ""'
    const { form, evaluable, reach, problems } = await check(rule)
    assert.deepEqual([form, evaluable, reach], ['cel', false, null])
    const [problem, ...more] = problems as { from: number; to: number; line: number; column: number; message: string }[]
    assert.deepEqual(more, [])
    const { from = 0, to = 0, line, column, message } = problem ?? {}
    assert.deepEqual([rule.slice(from, to), line, column], ['txt', 2, 3])
    assert.match(String(message), /Unknown variable: txt/)
  })

  for (const [rule, part] of [
    ['cel:text.matches("(")', 'text.matches("(")'],
    ['cel:text', 'text'],
    ['cel:pii["shoe_size"] > 0', 'pii["shoe_size"]'],
    ['cel:text ==', ''],
  ] as const) {
    it(`marks the part of ${rule} that is wrong`, async () => {
      const [{ from, to }] = (await check(rule))['problems'] as [{ from: number; to: number }]
      assert.equal(rule.slice(from, to), part)
    })
  }

  for (const body of [{}, { rule: '' }, { rule: 7 }, { rule: 'r'.repeat(20_001) }]) {
    it(`rejects ${JSON.stringify(body).slice(0, 40)} with 422`, async () => {
      const answer = await send('POST', '/policies/check', body)
      assert.deepEqual([answer.status, errorOf(answer)['param']], [422, 'rule'])
    })
  }

  it('stores nothing', async () => {
    await check('Say "no"')
    assert.deepEqual((await admin().get('/policies'))['data'], [])
  })
})

describe('checking a rule with a judge configured', () => {
  const judge = { model: 'gatehouse-echo', timeout_ms: 1000 }
  const { send } = adminSuite({ config: { policies: { judge } } })

  it('reports that the judge evaluates plain language, on the whole text', async () => {
    const { body } = await send('POST', '/policies/check', { rule: 'Be polite.' })
    assert.deepEqual([body['evaluable'], body['evaluated_by'], body['reach']], [true, 'judge', whole])
  })
})
