import type { Route } from '../../route.ts'
import { none } from '../../managing/fields.ts'
import { pageOf, presentList } from '../../managing/list.ts'
import type { AdminRoutes } from '../parts.ts'
import { presentEntry } from './present.ts'
import { LedgerList, LedgerQuery } from './schema.ts'

export function ledgerRoutes(admin: AdminRoutes): Route[] {
  return [
    admin.question({
      path: '/v1/organization/credits/ledger',
      summary: 'List what came in and what was used',
      permission: 'usage:read',
      params: none,
      query: LedgerQuery,
      answer: { description: 'Grants, payments and uses, each use with its receipt.', schema: LedgerList },
      operation: async ({ ledger }, { who, query }) =>
        presentList(await ledger.entries(who.organization.id, pageOf(query)), presentEntry),
    }),
  ]
}
