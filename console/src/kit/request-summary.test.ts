import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { components } from '../api/schema.d.ts'
import { shownVerdict, summaryOf } from './request-summary.ts'

type Request = components['schemas']['RequestDetail']
type Outcome = Request['outcomes'][number]

const outcomeOf = (changed: Partial<Outcome>): Outcome => ({
  check: 'policy',
  is_deciding: true,
  policy_id: 'pol_1',
  name: 'No code names',
  version: 3,
  decision: 'refuse',
  is_enforced: true,
  categories: [],
  places: [],
  terms: [],
  has_no_allowed_term: false,
  personal_data: [],
  score_bp: null,
  threshold_bp: null,
  exception_id: null,
  ...changed,
})

const partsOf = (changed: Partial<Request>, ...outcomes: readonly Partial<Outcome>[]) =>
  summaryOf({
    status: 'ok',
    decision: 'allow',
    is_enforced: true,
    model: 'gpt-5',
    error: null,
    direction: 'request',
    outcomes: outcomes.map(outcomeOf),
    ...changed,
  })

const sentence = (...args: Parameters<typeof partsOf>): string =>
  partsOf(...args)
    .map((part) => (typeof part === 'string' ? part : part.label))
    .join('')

const denied = { status: 'denied', decision: 'refuse' } as const
const gateway = { check: 'gateway', policy_id: 'default', name: 'Acceptable use', version: 2 } as const

describe('the sentence about a request', () => {
  it('names the model that answered', () => assert.equal(sentence({}), 'Answered by gpt-5; every check allowed it.'))

  it('names the policy that denied a request or a response, with a link', () => {
    assert.equal(sentence(denied, {}), 'Denied by the policy No code names (version 3).')
    assert.equal(
      sentence({ ...denied, direction: 'response' }, {}),
      'The response was denied by the policy No code names (version 3).',
    )
    const [link] = partsOf(denied, {}).filter((part) => typeof part !== 'string')
    assert.deepEqual(link, { label: 'No code names', rule: { kind: 'policy', policyId: 'pol_1' } })
  })

  it('says where a prompt injection was found', () => {
    const found: Partial<Outcome> = {
      check: 'prompt_injection',
      name: null,
      version: null,
      places: ['tool_results', 'user_text'],
    }
    assert.match(sentence(denied, found), /: a prompt injection in a tool result and the text of a user\.$/)
    assert.match(sentence(denied, { ...found, places: [] }), /: a prompt injection\.$/)
  })

  it('names a check that was not evaluated, beside what happened', () => {
    const open = { decision: 'not_evaluated', is_deciding: true, name: 'Be polite', version: 1 } as const
    const others = { decision: 'allow', is_deciding: false } as const
    assert.equal(
      sentence({ decision: 'not_evaluated' }, others, open),
      'Answered by gpt-5; the policy Be polite (version 1) was not evaluated.',
    )
    assert.equal(
      sentence({ decision: 'not_evaluated', status: 'denied' }, open, open),
      'Denied, because the policy Be polite (version 1) and another check were not evaluated.',
    )
    assert.equal(
      sentence({ decision: 'not_evaluated', status: 'denied', error: 'rate_limit_exceeded' }),
      'Rejected before the checks: rate_limit_exceeded.',
    )
    assert.equal(
      sentence({ decision: 'not_evaluated', status: 'denied', error: 'budget_exceeded' }),
      'Rejected before the checks: a budget does not cover what it may cost (budget_exceeded).',
    )
  })

  it('does not hide the verdict behind a check that was not evaluated', () => {
    const verdict = (status: Request['status'], ...outcomes: readonly Partial<Outcome>[]) =>
      shownVerdict({
        status,
        decision: 'not_evaluated',
        is_enforced: true,
        error: null,
        model: 'gpt-5',
        direction: 'request',
        outcomes: outcomes.map(outcomeOf),
      })
    const open = { decision: 'not_evaluated' } as const
    assert.deepEqual(verdict('ok', { decision: 'allow' }, open), { decision: 'allow', notEvaluated: 1 })
    assert.deepEqual(verdict('denied', open, open), { decision: 'refuse', notEvaluated: 2 })
    assert.deepEqual(verdict('denied'), { decision: 'not_evaluated', notEvaluated: 0 })
  })

  it('names the gateway configuration and what it matched, never the code of the reason', () => {
    assert.equal(
      sentence({ ...denied, reason_code: 'REFUSE' }, { ...gateway, terms: ['project condor'] }),
      'Denied by the gateway configuration Acceptable use (version 2): the term “project condor”.',
    )
    assert.equal(
      sentence(denied, { ...gateway, categories: ['hate'] }),
      'Denied by the gateway configuration Acceptable use (version 2): the category hate.',
    )
    assert.match(sentence(denied, { ...gateway, has_no_allowed_term: true }), /none of the required terms\.$/)
    assert.equal(
      sentence(denied, { ...gateway, name: null, version: null, categories: ['hate'] }),
      'Denied by the gateway configuration: the category hate.',
    )
  })

  it('says what was replaced', () => {
    const redacted = { decision: 'redact' } as const
    const found = [{ kind: 'phone', count: 1 }]
    assert.equal(
      sentence(redacted, { ...gateway, personal_data: found }),
      'Answered by gpt-5; the gateway configuration Acceptable use (version 2) replaced one phone number.',
    )
    assert.match(sentence({ decision: 'rewrite' }, gateway), /had it rewritten\.$/)
  })

  it('names a category that moderation blocks, and why it does', () => {
    const moderation = { policy_id: null, name: null, version: null } as const
    assert.equal(
      sentence(denied, { ...moderation, check: 'always_blocked', categories: ['self-harm'] }),
      'Denied by moderation: self-harm. This category is always blocked; no rule can allow it.',
    )
    assert.equal(
      sentence(denied, { ...moderation, check: 'requested', categories: ['hate'] }),
      'Denied by moderation: hate. The request asked to block this category.',
    )
  })

  it('says what a check that is only monitored would have done', () =>
    assert.equal(
      sentence({ is_enforced: false, decision: 'refuse' }, { is_enforced: false }),
      'Answered by gpt-5. The policy No code names (version 3) would have denied it; it is monitoring.',
    ))

  it('gives the code of an error before anything else', () => {
    assert.equal(
      sentence({ status: 'error', decision: 'refuse', error: 'upstream_timeout' }),
      'Not answered by gpt-5: upstream_timeout.',
    )
    assert.equal(
      sentence({ status: 'denied', decision: 'not_evaluated', error: 'rate_limit_exceeded' }),
      'Rejected before the checks: rate_limit_exceeded.',
    )
  })
})
