import type { Static } from 'typebox'
import { displayedBalance, inCredits, inUsd } from '../../../domain/credits/formatting.ts'
import { noBalance, remainingMicro, type GrantStore, type LedgerStore } from '../../../domain/credits/ledger-store.ts'
import { correctCredits, grantCredits, recordPayment } from '../../../domain/credits/payments.ts'
import { none } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import type { AdminRoutes, AdminSurface } from '../routes.ts'
import { requireCreditManager, type CreditAuthority } from './authority.ts'
import * as Schema from './balance-schema.ts'
import type { Ids } from '../../../base/ids.ts'
import type { DirectoryStore } from '../../../domain/identity/store.ts'

const path = '/v1/organization/credits'

export type BalanceParts = CreditAuthority & {
  readonly ids: Ids
  readonly balances: Pick<LedgerStore, 'balance'>
  /** The price of a credit. */
  readonly creditUsd: number
}

/** The balance of the organization, and what changes it besides requests. */
export function balanceRoutes(
  { read, mutation }: AdminRoutes<{ readonly grants: GrantStore; readonly directory: DirectoryStore }>,
  parts: BalanceParts & Pick<AdminSurface, 'authenticate'>,
): Route[] {
  const { ids, creditUsd, authenticate } = parts
  const change = {
    method: 'POST',
    permission: 'credits:write',
    params: none,
    query: none,
    answer: { description: 'The balance, and whether the reference is new.', schema: Schema.BalanceChange },
    present: (isNew: boolean) => ({ is_new: isNew }),
  } as const

  /** Adds the balance after the transaction to the response. */
  const withBalance = (route: Route): Route => ({
    ...route,
    async handle(request, reply) {
      const body = await route.handle(request, reply)
      const { organization } = await authenticate(request)
      return { ...(await balanceOf(parts, organization.id)), ...Object(body) }
    },
  })

  return [
    read({
      name: 'getBalance',
      path,
      summary: 'Read the credit balance',
      permission: 'usage:read',
      params: none,
      query: none,
      answer: { description: 'The balance.', schema: Schema.BalanceObject },
      operation: (_reads, { actor }) => balanceOf(parts, actor.organization.id),
    }),
    withBalance(
      mutation({
        ...change,
        name: 'grantCredits',
        path: `${path}/grants`,
        summary: 'Grant credits',
        body: Schema.CreateGrant,
        operation({ grants }, { actor, body: { credits, ref = ids('grant'), reason = '' } }) {
          requireCreditManager(actor, parts)
          return grantCredits(grants, { organizationId: actor.organization.id, credits, ref, note: reason })
        },
      }),
    ),
    withBalance(
      mutation({
        ...change,
        name: 'correctCredits',
        path: `${path}/corrections`,
        summary: 'Take granted credits back',
        description:
          'Writes a ledger entry of the kind `correction`; the grant stays in the ledger. Responds with 409 `insufficient_credits` if requests have used or reserved the credits.',
        body: Schema.CreateCorrection,
        operation({ grants }, { actor, body: { credits, ref = ids('correction'), reason = '' } }) {
          requireCreditManager(actor, parts)
          return correctCredits(grants, { organizationId: actor.organization.id, credits, ref, note: reason })
        },
      }),
    ),
    withBalance(
      mutation({
        ...change,
        name: 'recordPayment',
        path: `${path}/payments`,
        summary: 'Record a payment',
        description: 'It counts towards the tier and adds the credits that it buys.',
        body: Schema.CreatePayment,
        operation(stores, { actor, body }) {
          requireCreditManager(actor, parts)
          return recordPayment(stores, { ...body, organizationId: actor.organization.id, creditUsd })
        },
      }),
    ),
  ]
}

async function balanceOf(
  { balances, creditUsd }: Pick<BalanceParts, 'balances' | 'creditUsd'>,
  organizationId: string,
): Promise<Static<typeof Schema.BalanceObject>> {
  const balance = (await balances.balance(organizationId)) ?? noBalance
  const remaining = remainingMicro(balance)
  return {
    organization_id: organizationId,
    remaining_credits: displayedBalance(remaining),
    held_credits: inCredits(balance.heldMicro),
    debt_credits: inCredits(Math.max(0, -remaining)),
    granted_credits: inCredits(balance.grantedMicro),
    spent_credits: inCredits(balance.spentMicro),
    spent_usd: inUsd(balance.spentMicro, creditUsd),
    credit_usd: creditUsd,
  }
}
