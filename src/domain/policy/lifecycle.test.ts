import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { Fault } from '../../base/fault.ts'
import { createPolicy, pausePolicy, publishPolicy, resumePolicy, rollBackPolicy, updatePolicy } from './lifecycle.ts'
import type { NewPolicy, PolicyPatch } from './lifecycle.ts'
import { contentOf } from './content.ts'
import { summaryOf, type Policy, type PolicyVersion } from './policy.ts'

type Step = ['update', PolicyPatch] | ['publish'] | ['pause'] | ['resume'] | ['rollBack', number]

type Case = {
  readonly title: string
  readonly create: NewPolicy
  readonly startsAtRevision?: number
  readonly steps: readonly Step[]
  /** Fields of the policy after the last step. */
  readonly expected?: Readonly<Record<string, unknown>>
  /** The code of the error that the last step throws. */
  readonly expectedError?: string
}

const note = { publishedBy: 'adk_1', reason: null }
const creation = { id: 'pol_1', organizationId: 'org_1', nowMs: 1_000 }

describe('the lifecycle of a policy', () => {
  for (const file of globSync(`${import.meta.dirname}/cases/*.json`)) {
    const {
      title,
      create,
      startsAtRevision = 1,
      steps,
      expected,
      expectedError,
    }: Case = JSON.parse(readFileSync(file, 'utf8'))
    it(title, () => {
      const start = { ...createPolicy(create, creation), revision: startsAtRevision }
      if (expectedError !== undefined) {
        const before = applySteps(start, steps.slice(0, -1))
        assert.throws(
          () => applySteps(before.policy, steps.slice(-1), before.versions),
          (error) => error instanceof Fault && error.kind === 'conflict' && error.code === expectedError,
        )
        return
      }
      const seen = fieldsOf(applySteps(start, steps).policy)
      for (const [field, value] of Object.entries(expected ?? {})) assert.deepEqual(seen[field], value, field)
    })
  }

  it('sets the time of a change, and keeps it if nothing changes', () => {
    const policy = createPolicy({ name: 'One', rule: 'r' }, creation)
    assert.equal(updatePolicy(policy, {}, 2_000).updatedAtMs, 1_000)
    assert.equal(updatePolicy(policy, { name: 'Two' }, 2_000).updatedAtMs, 2_000)
    assert.equal(publishPolicy(policy, { ...note, versionId: 'polv_1', nowMs: 3_000 }).published?.publishedAtMs, 3_000)
  })
})

function applySteps(start: Policy, steps: readonly Step[], known: readonly PolicyVersion[] = []) {
  let policy = start
  const versions = [...known]
  for (const step of steps) {
    policy = applyStep(policy, step, versions)
    if (policy.published && !versions.includes(policy.published)) versions.push(policy.published)
  }
  return { policy, versions }
}

function applyStep(policy: Policy, step: Step, versions: readonly PolicyVersion[]): Policy {
  const publication = { ...note, versionId: `polv_${versions.length + 1}`, nowMs: 2_000 }
  if (step[0] === 'update') return updatePolicy(policy, step[1], 2_000)
  if (step[0] === 'publish') return publishPolicy(policy, publication)
  if (step[0] === 'pause') return pausePolicy(policy, 2_000)
  if (step[0] === 'resume') return resumePolicy(policy, 2_000)
  const earlier = versions.find(({ version }) => version === step[1])
  if (!earlier) throw new Error(`the case names version ${step[1]}, which it did not publish`)
  return rollBackPolicy(policy, earlier, publication)
}

const fieldsOf = (policy: Policy): Record<string, unknown> => ({
  ...summaryOf(policy),
  ...contentOf(policy.draft),
  baseVersion: policy.draft.baseVersion,
  publishedMode: policy.published?.mode,
})
