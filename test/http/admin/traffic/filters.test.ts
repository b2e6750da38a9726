import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openConsoleScene } from '../../../support/console-scene.ts'

type Traffic = { readonly data: readonly { readonly results: readonly { readonly requests: number }[] }[] }

describe('traffic', () => {
  it('is filtered by what the sums have, with and without values', async () => {
    await using scene = await openConsoleScene()
    for (const [text, model] of [['Hello'], ['falcon'], ['Hello', 'other']] as const) await scene.ask(text, model)
    const headers = { authorization: `Bearer ${scene.adminKey}` }
    const requests = async (query: string): Promise<number> => {
      const response = await scene.get(`/v1/organization/traffic?group_by=decision&${query}`, headers)
      const { data } = (await response.json()) as Traffic
      return data.flatMap(({ results }) => results).reduce((sum, each) => sum + each.requests, 0)
    }
    const filters: [string, number][] = [
      ['', 3],
      ['status=ok', 1],
      ['not_status=ok', 2],
      ['status=ok&status=denied', 2],
      ['model=other', 1],
      ['not_model=other', 2],
      ['decision=refuse', 1],
      ['not_decision=refuse&not_model=other', 1],
      [`project_id=${scene.projectId}`, 3],
      [`not_project_id=${scene.projectId}`, 0],
    ]
    for (const [query, expected] of filters) assert.equal(await requests(query), expected, query)
    const byKey = await scene.get('/v1/organization/traffic?group_by=key&status=ok', headers)
    assert.equal(byKey.status, 422)
  })
})
