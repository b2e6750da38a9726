import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { permissions } from '../../../../src/domain/identity/permissions.ts'
import { errorOf } from '../../../support/administration.ts'
import { adminRoutes, titleOf } from '../../../support/administration-routes.ts'
import { populatedSuite } from '../../../support/populated-suite.ts'

describe('every administration route', () => {
  const { app, pathTo } = populatedSuite()

  for (const route of adminRoutes) {
    const { permission, orPermissions = [] } = route
    if (permission === undefined) continue
    it(`${titleOf(route)} needs ${permission}, whatever other permissions a key has`, async () => {
      const others = permissions.filter((word) => word !== permission && word !== '*' && !orPermissions.includes(word))
      const holder = await app().adminWith(others)
      const answer = await holder.send(route.method, pathTo(route), { body: route.body })
      assert.equal(answer.status, 403)
      assert.equal(errorOf(answer)['type'], 'permission_error')
      assert.equal(errorOf(answer)['code'], 'permission_denied')
      assert.match(String(errorOf(answer)['message']), new RegExp(permission))
    })
  }
})
