import { before } from 'node:test'
import { adminSuite } from './admin-suite.ts'
import type { startAdminApp } from './administration.ts'
import { createOneOfEach, pathOf, type AdminRoute, type Belongings } from './administration-routes.ts'

/** An app with one resource of each kind, for the tests of one file. Call it inside `describe`. */
export function populatedSuite(...options: Parameters<typeof startAdminApp>) {
  const { app, admin } = adminSuite(...options)
  let ids: Belongings | undefined
  before(async () => void (ids = await createOneOfEach(admin())))

  return {
    app,
    admin,
    /** The path of a route with the ids of existing resources. */
    pathTo(route: AdminRoute): string {
      if (!ids) throw new Error('the resources are not created yet')
      return pathOf(route, { ...ids })
    },
  }
}
