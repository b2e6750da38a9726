import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isTemplateId, policyOfRequest, policyOfTemplate } from './new-policy.ts'
import type { DecidedRequest, Policy } from './queries.ts'
import { templates } from './templates.ts'

describe('a policy from a template', () => {
  for (const { id, rule, direction } of templates)
    it(`begins in monitoring: ${id}`, () => {
      const policy = policyOfTemplate(id)
      assert.deepEqual([policy.rule, policy.direction, policy.mode], [rule, direction, 'monitoring'])
      assert.ok(isTemplateId(id) && policy.name !== '')
    })
  it('is known by the id in the address', () => {
    assert.equal(isTemplateId('blank'), false)
    assert.equal(isTemplateId('toString'), false)
  })
})

describe('a policy from a request', () => {
  const request = { id: 'req_abcdef123456', project_id: 'proj_1', categories: [] } as unknown as DecidedRequest
  const decidedBy = { name: 'Birds', published: { rule: 'cel:true' } } as Policy
  it('is for its project, in monitoring', () => {
    const { mode, scope, project_ids: ids } = policyOfRequest(request, undefined)
    assert.deepEqual([mode, scope, ids], ['monitoring', 'projects', ['proj_1']])
  })
  it('is about the categories that were found, before the rule that decided', () =>
    assert.equal(
      policyOfRequest({ ...request, categories: ['hate', 'sexual/minors'] }, decidedBy).rule,
      'cel:categories["hate"] > 0.5 || categories["sexual/minors"] > 0.5',
    ))
  it('has the rule of the policy that decided it', () =>
    assert.equal(policyOfRequest(request, decidedBy).rule, 'cel:true'))
  it('has no rule if nothing decided it, and no project if it had none', () => {
    const policy = policyOfRequest({ ...request, project_id: null }, undefined)
    assert.deepEqual([policy.rule, policy.scope], ['', undefined])
  })
})
