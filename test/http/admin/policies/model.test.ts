import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { errorOf, itemsOf, textOf, type Answer, type Json } from '../../../support/administration.ts'
import { adminSuite } from '../../../support/admin-suite.ts'
import { isDirty, newModel, takeStep, type ModelContent, type PolicyModel } from '../../../support/policy-model.ts'

/** Most steps name the current revision; some name an older or a later one. */
const revisionOffset = fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, fc.constantFrom(-1, 1))
const content = {
  rule: fc.constantFrom('a', 'b', 'c'),
  mode: fc.constantFrom('monitoring', 'enforcing'),
  project: fc.boolean(),
}
const move = fc.oneof(
  fc.record({
    operation: fc.constant('update' as const),
    patch: fc.record({ ...content, name: fc.constantFrom('x', 'y') }, { requiredKeys: [] }),
  }),
  fc.record({ operation: fc.constantFrom('publish', 'publish', 'pause', 'resume') }),
  fc.record({ operation: fc.constant('rollback' as const), version: fc.integer({ min: 1, max: 4 }) }),
  { weight: 1, arbitrary: fc.constant({ operation: 'delete' as const }) },
)

describe('the lifecycle of a policy over HTTP', () => {
  const { app, admin, send } = adminSuite()

  it('follows the model for every sequence of operations', async () => {
    const sequence = fc.array(fc.record({ step: move, offset: revisionOffset }), { minLength: 5, maxLength: 25 })
    await fc.assert(
      fc.asyncProperty(fc.record(content), sequence, async (draft, moves) => {
        const model = newModel('x', draft)
        const made = await admin().post('/policies', { name: 'x', ...toBody(draft) })
        for (const { step, offset } of moves) {
          const planned = { ...step, revision: Math.max(1, model.revision + offset) }
          const expected = takeStep(model, planned)
          const answer = await perform(textOf(made), planned)
          assert.equal(answer.status < 300 ? 'ok' : errorOf(answer)['code'], expected, JSON.stringify(planned))
          if (answer.status === 200 && planned.operation !== 'delete') assertSame(answer.body, model)
        }
        await assertHistory(textOf(made), model)
        // The next run needs the name.
        if (!model.isDeleted) await send('DELETE', `/policies/${textOf(made)}?revision=${model.revision}`)
      }),
      { numRuns: 25 },
    )
  })

  type PlannedStep = Parameters<typeof takeStep>[1]

  async function perform(id: string, planned: PlannedStep): Promise<Answer> {
    const path = `/policies/${id}`
    const { revision } = planned
    if (planned.operation === 'update') return send('PATCH', path, { revision, ...toBody(planned.patch) })
    if (planned.operation === 'delete') return send('DELETE', `${path}?revision=${revision}`)
    if (planned.operation === 'rollback')
      return send('POST', `${path}/rollback`, { revision, version: planned.version })
    return send('POST', `${path}/${planned.operation}`, { revision })
  }

  /** Reads the policy and its versions again after the last step. */
  async function assertHistory(id: string, model: PolicyModel): Promise<void> {
    const read = await send('GET', `/policies/${id}`)
    assert.equal(read.status, model.isDeleted ? 404 : 200)
    if (model.isDeleted) return
    assertSame(read.body, model)
    const versions = itemsOf(await admin().get(`/policies/${id}/versions?order=asc&limit=100`))
    assert.deepEqual(
      versions.map(({ version, rule, mode, project_ids: projects }) => ({ version, rule, mode, projects })),
      model.versions.map(({ rule, mode, project }, at) => ({
        version: at + 1,
        rule,
        mode,
        projects: projectIds(project),
      })),
    )
  }

  const projectIds = (project: boolean): string[] => (project ? [app().projectId] : [])

  function toBody({ project, ...rest }: Partial<ModelContent>): Json {
    return { ...rest, ...(project !== undefined && { project_ids: projectIds(project) }) }
  }

  function assertSame(body: Json, model: PolicyModel): void {
    const { rule, mode, project } = model.draft
    assert.partialDeepStrictEqual(body, {
      name: model.name,
      state: model.state,
      revision: model.revision,
      current_version: model.versions.length || null,
      has_unpublished_changes: isDirty(model),
      draft: { rule, mode, project_ids: projectIds(project), base_version: model.base },
    })
  }
})
