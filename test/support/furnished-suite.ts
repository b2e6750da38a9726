import { before } from 'node:test'
import { adminSuite } from './admin-suite.ts'
import type { startAdminApp } from './administration.ts'
import { furnish, pathOf, type AdminRoute, type Belongings } from './administration-routes.ts'

/** A house with one of everything, for the tests of one file. Call it inside `describe`. */
export function furnishedSuite(...options: Parameters<typeof startAdminApp>) {
  const { house, admin } = adminSuite(...options)
  let ids: Belongings | undefined
  before(async () => void (ids = await furnish(admin())))

  return {
    house,
    admin,
    /** The path of a route, about what is there. */
    pathTo(route: AdminRoute): string {
      if (!ids) throw new Error('the house is not furnished yet')
      return pathOf(route, { ...ids })
    },
  }
}
