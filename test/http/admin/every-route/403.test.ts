import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { permissions } from '../../../../src/domain/identity/permissions.ts'
import { errorOf, startAdminHouse, type AdminHouse } from '../../../support/administration.ts'
import { adminRoutes, furnish, pathOf, titleOf, type Belongings } from '../../../support/administration-routes.ts'

describe('every administration route', () => {
  let house: AdminHouse
  let ids: Belongings
  before(async () => {
    house = await startAdminHouse()
    ids = await furnish(house.admin)
  })
  after(() => house[Symbol.asyncDispose]())

  for (const route of adminRoutes) {
    it(`${titleOf(route)} needs ${route.permission}, whatever else a key may do`, async () => {
      const others = permissions.filter((word) => word !== route.permission && word !== '*')
      const holder = await house.adminWith(others)
      const answer = await holder.ask(route.method, pathOf(route, { ...ids }), { body: route.body })
      assert.equal(answer.status, 403)
      assert.equal(errorOf(answer)['type'], 'permission_error')
      assert.equal(errorOf(answer)['code'], 'permission_denied')
      assert.match(String(errorOf(answer)['message']), new RegExp(route.permission))
    })
  }
})
