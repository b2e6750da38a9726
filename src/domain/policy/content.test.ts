import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { policyAuditRecord } from './audit-record.ts'
import {
  contentBody,
  contentChanges,
  contentOf,
  contentWith,
  initialContent,
  isSameContent,
  policyFields,
  type PolicyContent,
  type PolicyField,
} from './content.ts'
import { createPolicy, updatePolicy } from './lifecycle.ts'
import { summaryOf } from './policy.ts'

const keys = Object.keys(policyFields) as (keyof PolicyContent)[]

function valuesOf(field: PolicyField): fc.Arbitrary<unknown> {
  if (field.kind === 'choice') return fc.constantFrom<string>(...field.choices)
  if (field.kind === 'flag') return fc.boolean()
  if (field.kind === 'set') return fc.uniqueArray(fc.constantFrom('proj_a', 'proj_b', 'proj_c'))
  if (field.kind === 'optional integer')
    return fc.option(fc.integer({ min: field.minimum, max: field.maximum }), { nil: null })
  return fc.string({ minLength: 1 })
}

const contents = fc.record(Object.fromEntries(keys.map((key) => [key, valuesOf(policyFields[key])])), {
  noNullPrototype: true,
}) as fc.Arbitrary<PolicyContent>

const canonical = (value: unknown): string =>
  JSON.stringify(Array.isArray(value) ? value.map(String).toSorted() : value)

for (const key of keys) {
  describe(`a change of ${key} alone`, () => {
    const { name } = policyFields[key]
    /** A content, and the same with another value of the field. */
    const pairs = fc
      .tuple(contents, valuesOf(policyFields[key]))
      .filter(([content, value]) => canonical(content[key]) !== canonical(value))
      .map(([content, value]) => ({ content, changes: { [key]: value } as Partial<PolicyContent> }))
    const holds = (check: (content: PolicyContent, changes: Partial<PolicyContent>) => void) =>
      fc.assert(fc.property(pairs, ({ content, changes }) => check(content, changes)))

    it('makes the content differ', () =>
      holds((content, changes) => {
        assert.equal(isSameContent(content, contentWith(content, changes)), false)
        assert.equal(isSameContent(content, contentOf(content)), true)
        assert.deepEqual(contentWith(content, changes)[key], changes[key])
      }))

    it('passes through the body of a request', () =>
      holds((content, changes) => {
        const body = { [name]: contentBody(contentWith(content, changes))[name] }
        assert.deepEqual(contentChanges(body), changes)
        assert.deepEqual(contentChanges(contentBody(content)), content)
      }))

    it('is an unpublished change with a revision and an audit record of its own', () =>
      holds((content, changes) => {
        const policy = createPolicy({ ...content, name: 'One' }, { id: 'pol_1', organizationId: 'org_1', nowMs: 1 })
        const before = {
          ...policy,
          published: { ...content, id: 'polv_1', version: 1, publishedAtMs: 2, publishedBy: null, reason: null },
        }
        assert.equal(summaryOf(before).hasUnpublishedChanges, false)
        const after = updatePolicy(before, changes, 3)
        assert.equal(after.revision, before.revision + 1)
        assert.equal(summaryOf(after).hasUnpublishedChanges, true)
        const { details } = policyAuditRecord('pol_1', { kind: 'policy.updated', before, after })
        const valueIn = ({ draft }: typeof after) => ({ [name]: contentBody(draft)[name] })
        assert.deepEqual(details, { ...valueIn(after), before: valueIn(before) })
      }))
  })
}

describe('the content of a policy', () => {
  it('compares sets without regard to order and duplicates', () => {
    const left = { ...initialContent, projectIds: ['proj_a', 'proj_b'] }
    const right = { ...initialContent, projectIds: ['proj_b', 'proj_a', 'proj_b'] }
    assert.equal(isSameContent(left, right), true)
    assert.deepEqual(contentWith(left, { projectIds: right.projectIds }).projectIds, ['proj_b', 'proj_a'])
  })

  it('keeps a field that a request leaves out or sets to null, and clears an optional one', () => {
    const nulls = Object.fromEntries(Object.values(policyFields).map(({ name }) => [name, null]))
    const cleared = keys.filter((key) => policyFields[key].kind === 'optional integer')
    assert.deepEqual(contentChanges({}), {})
    assert.deepEqual(contentChanges(nulls), Object.fromEntries(cleared.map((key) => [key, null])))
  })
})
