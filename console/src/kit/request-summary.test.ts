import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { components } from '../api/schema.d.ts'
import { summaryOf } from './request-summary.ts'

type Request = components['schemas']['RequestDetail']

const summary = (changed: Partial<Request>): string =>
  summaryOf({
    status: 'ok',
    decision: 'allow',
    is_enforced: true,
    model: 'gpt-5',
    categories: [],
    policy_name: null,
    reason_code: null,
    error: null,
    ...changed,
  } as Request)

describe('the sentence about a request', () => {
  it('names the model that answered', () => assert.equal(summary({}), 'Answered by gpt-5; every check allowed it.'))
  it('names the policy that denied it, whatever the reason code', () =>
    assert.equal(
      summary({ status: 'denied', decision: 'refuse', policy_name: 'No code names', reason_code: 'REFUSE' }),
      'Denied by No code names.',
    ))
  it('names the categories of a check without a policy', () =>
    assert.equal(
      summary({ status: 'denied', decision: 'refuse', categories: ['hate', 'sexual'] }),
      'Denied by hate, sexual.',
    ))
  it('names the gateway configuration where no policy and no category decided, not the code of the reason', () => {
    const byGateway = { policy_name: null, reason_code: 'REFUSE' }
    assert.equal(
      summary({ status: 'denied', decision: 'refuse', ...byGateway }),
      'Denied by the gateway configuration.',
    )
    assert.equal(
      summary({ decision: 'redact', ...byGateway, reason_code: 'REDACT' }),
      'Answered by gpt-5; texts were changed by the gateway configuration.',
    )
  })
  it('says what a check that is only monitored would do, with a verb', () => {
    const monitored = { is_enforced: false, policy_name: 'Mail' }
    assert.equal(
      summary({ ...monitored, decision: 'refuse' }),
      'Answered by gpt-5. Mail would deny it, and is only monitored.',
    )
    assert.match(summary({ ...monitored, decision: 'summary' }), /would summarize it/)
  })
  it('gives the code of an error before anything else', () => {
    assert.equal(
      summary({ status: 'error', decision: 'refuse', error: 'upstream_timeout' }),
      'Not answered by gpt-5: upstream_timeout.',
    )
    assert.equal(
      summary({ status: 'denied', decision: 'not_evaluated', error: 'rate_limit_exceeded' }),
      'Rejected before the checks: rate_limit_exceeded.',
    )
  })
})
