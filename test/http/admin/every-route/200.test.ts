import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startAdminApp, type AdminApp } from '../../../support/administration.ts'
import { adminRoutes, bodyOf, createOneOfEach, pathOf, titleOf } from '../../../support/administration-routes.ts'

/** These need another state than that of an app with one resource of each kind. */
const rejected: Readonly<Record<string, string>> = {
  'POST /policies/{policy_id}/discard_draft': 'no_unpublished_changes',
  'POST /policies/{policy_id}/publish': 'no_unpublished_changes',
  'POST /policies/{policy_id}/resume': 'invalid_state',
  'POST /policies/{policy_id}/rollback': 'invalid_state',
  'POST /policies/{policy_id}/rollout': 'invalid_state',
}

describe('every administration route', () => {
  let app: AdminApp
  before(async () => void (app = await startAdminApp()))
  after(() => app[Symbol.asyncDispose]())

  it('is in the table that these tests iterate over, and the table has no other', () => {
    const { paths = {} } = app.app.openapi() as { paths?: Record<string, object> }
    const described = Object.entries(paths)
      .filter(([path]) => path.startsWith('/v1/organization'))
      .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
    // Both kinds of key are called `key_id` in their paths.
    const known = adminRoutes.map(
      (route) => `${route.method} /v1/organization${route.path.replace('admin_key_id', 'key_id')}`,
    )
    assert.deepEqual(described.toSorted(), known.toSorted())
  })

  for (const route of adminRoutes) {
    it(`${titleOf(route)} responds to an authorised caller, with a request id`, async () => {
      const ids = await createOneOfEach(app.admin)
      const holder = await app.adminWith([route.permission ?? 'usage:read', ...(route.alsoNeeds ?? [])])
      const { status, headers, body } = await holder.send(route.method, pathOf(route, { ...ids }), {
        body: bodyOf(route, { ...ids }),
      })
      const code = rejected[titleOf(route)]
      if (code === undefined) assert.ok(status === 200 || status === 201, JSON.stringify(body))
      else assert.deepEqual([status, (body['error'] as { code: string }).code], [409, code])
      assert.match(headers.get('x-request-id') ?? '', /^req_/)
    })
  }
})
