import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { itemsOf, textOf } from '../../../support/administration.ts'
import { adminSuite } from '../../../support/admin-suite.ts'

describe('the API keys of all projects', () => {
  const { app, admin } = adminSuite()

  it('are listed with their project, and filtered by project, status and name', async () => {
    const [one, two] = [
      textOf(await admin().post('/projects', { name: 'One' })),
      textOf(await admin().post('/projects', { name: 'Two' })),
    ]
    const keyIn = async (project: string, name: string) =>
      textOf(await admin().post(`/projects/${project}/api_keys`, { name }))
    const [chat, mail, gone, shut] = [
      await keyIn(one, 'Chat bot'),
      await keyIn(one, 'Mail'),
      await keyIn(two, 'Chat old'),
      await keyIn(two, 'Chat shut'),
    ]
    await admin().send('DELETE', `/projects/${two}/api_keys/${gone}`)
    await admin().send('POST', `/projects/${two}/archive`)
    const other = await app().otherOrganization()
    await other.admin.post(`/projects/${other.projectId}/api_keys`, { name: 'Chat of others' })
    const ids = async (query: string) => itemsOf(await admin().get(`/api_keys?order=asc&${query}`)).map(({ id }) => id)

    assert.deepEqual(await ids('search=CHAT'), [chat, shut])
    assert.deepEqual(await ids('search=chat&status=active'), [chat])
    assert.deepEqual(await ids('search=chat&status=revoked'), [gone])
    assert.deepEqual(await ids('status=expired'), [])
    assert.deepEqual(await ids(`project_id=${one}`), [chat, mail])
    assert.deepEqual(await ids('project_id=proj_none'), [])
    assert.deepEqual(await ids(`project_id=${one}&after=${chat}`), [mail])
    const [item] = itemsOf(await admin().get(`/api_keys?project_id=${two}`))
    assert.partialDeepStrictEqual(item, {
      id: shut,
      object: 'organization.project.api_key',
      project_id: two,
      project_name: 'Two',
      project_status: 'archived',
    })
  })
})
