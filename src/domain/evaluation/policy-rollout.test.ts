import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { plainContext } from '../../../test/support/evaluation-context.ts'
import { policyOf } from '../../../test/support/rule-policy.ts'
import { exceptionsByPolicy } from '../exceptions/covered.ts'
import { planFor } from './plan.ts'
import { emptyRulebook, type ActivePolicy } from './rulebook.ts'

const users = Array.from({ length: 10_000 }, (_, at) => `user ${at}`)

function sidesAt(rolloutPercent: number, policy: ActivePolicy = policyOf('Never mention "falcon".')) {
  const rulebook = { ...emptyRulebook, policies: [{ ...policy, rolloutPercent }] }
  return users.map((user) => planFor(rulebook, { ...plainContext, user }).policies.request[0])
}
const enforcedAt = (percent: number): ReadonlySet<string> =>
  new Set(users.filter((_, at) => sides.get(percent)?.[at]?.mode === 'enforcing'))
const sides = new Map([1, 10, 50].map((percent) => [percent, sidesAt(percent)]))

describe('a policy that is enforced for a share of users', () => {
  it('covers about that share, and keeps those who are in when the share rises', () => {
    const [one, ten, half] = [enforcedAt(1), enforcedAt(10), enforcedAt(50)]
    for (const [covered, percent] of [
      [one, 1],
      [ten, 10],
      [half, 50],
    ] as const) {
      // Five standard deviations of a binomial distribution.
      const expected = users.length * (percent / 100)
      const slack = 5 * Math.sqrt(expected * (1 - percent / 100))
      assert.ok(Math.abs(covered.size - expected) < slack, `${covered.size} of ${users.length} at ${percent} %`)
    }
    assert.deepEqual([one.difference(ten).size, ten.difference(half).size], [0, 0])
  })

  it('is on the same side for the same user, whatever is loaded again', () => {
    assert.deepEqual(
      sidesAt(10).map((policy) => policy?.rollout),
      sides.get(10)?.map((policy) => policy?.rollout),
    )
  })

  it('is only recorded outside of the share, and says so', () => {
    for (const policy of sides.get(10) ?? [])
      assert.deepEqual(
        policy?.rollout,
        policy?.mode === 'enforcing' ? { percent: 10, side: 'enforced' } : { percent: 10, side: 'observed' },
      )
  })

  it('goes by the key if no user is named', () => {
    const rulebook = { ...emptyRulebook, policies: [{ ...policyOf('Say "no".'), rolloutPercent: 50 }] }
    const sideOf = (credentialId: string) =>
      planFor(rulebook, { ...plainContext, user: undefined, credentialId }).policies.request[0]?.rollout?.side
    assert.deepEqual(new Set(users.slice(0, 50).map(sideOf)), new Set(['enforced', 'observed']))
    assert.equal(sideOf('key_1'), sideOf('key_1'))
  })

  it('shares the lists of policies between requests of the same side', () => {
    const policies = [1, 2, 3].map((at) => ({ ...policyOf('Say "no".', at), rolloutPercent: at * 20 }))
    const rulebook = { ...emptyRulebook, policies }
    const lists = new Set(users.map((user) => planFor(rulebook, { ...plainContext, user }).policies))
    assert.equal(lists.size, 4)
  })

  it('has no rollout for a request that an exception lets through', () => {
    const policy = { ...policyOf('Say "no".', 1), rolloutPercent: 99 }
    const live = { id: 'exc_1', policyId: policy.id, subject: { kind: 'user', id: 'ada' } as const, expiresAtMs: 9 }
    const rulebook = { ...emptyRulebook, policies: [policy], exceptions: exceptionsByPolicy([live]) }
    const [planned] = planFor(rulebook, { ...plainContext, user: 'ada' }).policies.request
    assert.deepEqual([planned?.mode, planned?.rollout, planned?.exception], ['monitoring', undefined, { id: 'exc_1' }])
  })

  it('leaves the lists of policies as they are without rollouts and exceptions', () => {
    const rulebook = { ...emptyRulebook, policies: [policyOf('Say "no".')] }
    const [one, two] = ['ada', 'ben'].map((user) => planFor(rulebook, { ...plainContext, user }).policies)
    assert.equal(one, two)
    assert.equal(one?.request[0], rulebook.policies[0])
  })
})
