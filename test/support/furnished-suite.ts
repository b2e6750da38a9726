import { before } from 'node:test'
import { adminSuite } from './admin-suite.ts'
import type { startAdminApp } from './administration.ts'
import { furnish, pathOf, type AdminRoute, type Belongings } from './administration-routes.ts'

/** An app with one of everything, for the tests of one file. Call it inside `describe`. */
export function furnishedSuite(...options: Parameters<typeof startAdminApp>) {
  const { app, admin } = adminSuite(...options)
  let ids: Belongings | undefined
  before(async () => void (ids = await furnish(admin())))

  return {
    app,
    admin,
    /** The path of a route, about what is there. */
    pathTo(route: AdminRoute): string {
      if (!ids) throw new Error('the app is not furnished yet')
      return pathOf(route, { ...ids })
    },
  }
}
