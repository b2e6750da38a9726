import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  canHaveException,
  isComplete,
  isDayCount,
  movedThreshold,
  resolutionOf,
  resolveCommand,
  subjectsOf,
  type ResolutionForm,
} from './resolution.ts'
import type { Appeal } from './queries.ts'

const form: ResolutionForm = {
  answer: 'Birds are fine.',
  isCase: true,
  says: '',
  draft: { way: 'threshold', threshold: '9999', rule: 'Be kind.' },
  exception: { of: 'user', reason: '', days: '7' },
}
const at = { revision: 3, nowSeconds: 1_000.5 }
const policy = { id: 'pol_1', name: 'No code names', version: 1, rule: null }

describe('the resolution of an appeal', () => {
  it('makes a case, a draft and an exception of an overturned denial, as a request and as a command', () => {
    const body = resolutionOf(form, 'overturned', at)
    assert.deepEqual(body, {
      outcome: 'overturned',
      reason: 'Birds are fine.',
      case: true,
      draft: { match_threshold_basis_points: 9999 },
      revision: 3,
      exception: { for: 'user', expires_at: 1_000 + 7 * 86_400 },
    })
    assert.equal(
      resolveCommand('apl_1', body, '7'),
      `gatehouse appeals resolve apl_1 --outcome overturned --reason 'Birds are fine.' --case --threshold 9999 --revision 3 --exception user --until 7d`,
    )
  })

  it('says what the case is about, if that was typed', () => {
    const body = resolutionOf({ ...form, says: 'the bird' }, 'upheld', at)
    assert.deepEqual(body.case, { says: 'the bird' })
    assert.match(resolveCommand('apl_1', body, ''), /--case --says 'the bird'$/)
  })

  it('says why there is an exception, if that was typed', () => {
    const exception = { of: 'text', reason: 'Launch week', days: '1' } as const
    const body = resolutionOf({ ...form, exception }, 'overturned', at)
    assert.deepEqual(body.exception, { for: 'text', reason: 'Launch week', expires_at: 1_000 + 86_400 })
    assert.match(resolveCommand('apl_1', body, '1'), /--exception text --until 1d --exception-reason 'Launch week'$/)
  })

  it('changes either the threshold or the rule of the draft', () => {
    const draft = { way: 'rule', threshold: '9999', rule: 'Be kind.' } as const
    const body = resolutionOf({ ...form, draft, exception: undefined }, 'overturned', at)
    assert.deepEqual([body.draft, body.revision], [{ rule: 'Be kind.' }, 3])
    assert.match(resolveCommand('apl_1', body, ''), /--rule 'Be kind.' --revision 3$/)
  })

  it('moves the threshold as little as decides the text otherwise', () => {
    const scored = (claim: 'should_be_allowed' | 'should_be_denied', score_bp: number | null) =>
      movedThreshold({ claim, decision: { score_bp } as NonNullable<Appeal['decision']> })
    assert.deepEqual([scored('should_be_allowed', 7_000), scored('should_be_denied', 3_000)], [7_001, 3_000])
    assert.deepEqual(
      [scored('should_be_allowed', 10_000), scored('should_be_denied', 0), scored('should_be_allowed', null)],
      [undefined, undefined, undefined],
    )
  })

  it('is incomplete without days, without a threshold and without another rule', () => {
    const draft = { way: 'rule', threshold: '', rule: ' ' } as const
    const isReady = (changed: Partial<ResolutionForm>) => isComplete({ ...form, ...changed }, 'Be kind.')
    assert.equal(isReady({}), true)
    assert.equal(isReady({ draft }), false)
    assert.equal(isReady({ draft: { ...draft, rule: 'Be kind.' } }), false)
    assert.equal(isReady({ draft: { ...draft, rule: 'Be polite.' } }), true)
    assert.equal(isReady({ draft: { ...draft, way: 'threshold' } }), false)
    assert.equal(isReady({ exception: { of: 'key', reason: '', days: '31' } }), false)
  })

  it('changes nothing if the decision was right, and only the answer if it is dismissed', () => {
    assert.deepEqual(resolutionOf(form, 'upheld', at), { outcome: 'upheld', reason: 'Birds are fine.', case: true })
    assert.deepEqual(resolutionOf(form, 'dismissed', at), { outcome: 'dismissed', reason: 'Birds are fine.' })
  })

  it('offers an exception after a wrong denial by a policy only', () => {
    const claim = 'should_be_allowed' as const
    assert.equal(canHaveException({ policy, claim }, 'overturned'), true)
    assert.equal(canHaveException({ policy: null, claim }, 'overturned'), false)
    assert.equal(canHaveException({ policy, claim: 'should_be_denied' }, 'overturned'), false)
    assert.equal(canHaveException({ policy, claim }, 'upheld'), false)
  })

  it('offers an exception for what the request names', () => {
    const request = { user_id: null, api_key_id: 'key_1', project_id: 'proj_1' }
    assert.deepEqual(subjectsOf(request, true), ['key', 'project', 'text'])
    assert.deepEqual(subjectsOf(undefined, false), ['user', 'key', 'project'])
  })

  it('takes 1 to 30 days', () =>
    assert.deepEqual(['1', '30', '0', '31', '', '1.5'].map(isDayCount), [true, true, false, false, false, false]))
})
