import type { Route } from '../../route.ts'
import { none } from '../../resources/fields.ts'
import { pageOf, presentList } from '../../resources/list.ts'
import type { AdminRoutes } from '../parts.ts'
import { presentLedgerEntry } from './present.ts'
import { LedgerList, LedgerQuery } from './schema.ts'

export function ledgerRoutes(admin: AdminRoutes): Route[] {
  return [
    admin.read({
      path: '/v1/organization/credits/ledger',
      summary: 'List what came in and what was used',
      permission: 'usage:read',
      params: none,
      query: LedgerQuery,
      answer: { description: 'Grants, payments and usage, each usage with its receipt.', schema: LedgerList },
      operation: async ({ ledger }, { actor, query }) =>
        presentList(await ledger.entries(actor.organization.id, pageOf(query)), presentLedgerEntry),
    }),
  ]
}
