import type { Static } from 'typebox'
import { displayedBalance, inCredits, inUsd } from '../../domain/credits/formatting.ts'
import { noBalance, remainingMicro } from '../../domain/credits/ledger-store.ts'
import { grantCredits, recordPayment } from '../../domain/credits/payments.ts'
import type { LimitOverride } from '../../domain/limits/overrides.ts'
import { setLimitOverride } from '../../domain/limits/set-limits.ts'
import { none } from '../resources/fields.ts'
import type { Route } from '../route.ts'
import type { OperatorParts, OperatorRoutes } from './parts.ts'
import { installationRoute } from './route.ts'
import * as Schema from './credits-schema.ts'

/** Credits, payments and limits of an organization, and the check of the ledger. */
export function creditRoutes({ read, mutation }: OperatorRoutes, parts: OperatorParts): Route[] {
  const { reads, ids, creditUsd, callerOf } = parts

  /** Adds the balance after the transaction to the response. */
  const withBalance = (route: Route): Route => ({
    ...route,
    async handle(request, reply) {
      const body = await route.handle(request, reply)
      const { organization } = await callerOf.administrator(request)
      return { ...(await balanceOf(parts, organization.id)), ...Object(body) }
    },
  })

  return [
    read({
      name: 'getBalance',
      path: '/operator/organization/balance',
      summary: 'Read the credit balance of an organization',
      permission: '*',
      params: none,
      query: none,
      answer: { description: 'The balance.', schema: Schema.BalanceObject },
      operation: (_reads, { actor }) => balanceOf(parts, actor.organization.id),
    }),
    withBalance(
      mutation({
        name: 'grantCredits',
        method: 'POST',
        path: '/operator/organization/grants',
        summary: 'Grant credits',
        permission: '*',
        params: none,
        query: none,
        body: Schema.CreateGrant,
        answer: { description: 'The balance, and whether the grant is new.', schema: Schema.GrantAnswer },
        operation: ({ grants }, { actor, body: { credits, ref = ids('grant'), note = '' } }) =>
          grantCredits(grants, { organizationId: actor.organization.id, credits, ref, note }),
        present: (isNew) => ({ is_new: isNew }),
      }),
    ),
    withBalance(
      mutation({
        name: 'recordPayment',
        method: 'POST',
        path: '/operator/organization/payments',
        summary: 'Record a payment',
        description: 'It counts towards the tier and adds the credits that it buys.',
        permission: '*',
        params: none,
        query: none,
        body: Schema.CreatePayment,
        answer: { description: 'The balance, and whether the payment is new.', schema: Schema.GrantAnswer },
        operation: (stores, { actor, body }) =>
          recordPayment(stores, { ...body, organizationId: actor.organization.id, creditUsd }),
        present: (isNew) => ({ is_new: isNew }),
      }),
    ),
    mutation({
      name: 'setLimits',
      method: 'PUT',
      path: '/operator/organization/limits',
      summary: 'Set limits of an organization, a project or an API key',
      description: 'Replaces the limits that were set before.',
      permission: '*',
      params: none,
      query: none,
      body: Schema.SetLimits,
      answer: { description: 'The limits that apply in place of the tier’s.', schema: Schema.OverrideObject },
      operation: (stores, { actor, body: { project_id: projectId, api_key_id: keyId, limits } }) =>
        setLimitOverride(stores, { organizationId: actor.organization.id, projectId, keyId, limits }),
      present: presentOverride,
    }),
    installationRoute({
      name: 'verifyLedger',
      method: 'GET',
      path: '/operator/ledger/verification',
      summary: 'Verify the ledger',
      description: 'Computes every balance, slice and receipt again from the entries.',
      answer: { description: 'What was checked.', schema: Schema.LedgerVerificationObject },
      operation: () => reads.ledger.verify(),
    }),
  ]
}

const presentOverride = ({ subjectId, scope, limits }: LimitOverride): Static<typeof Schema.OverrideObject> => ({
  subject_id: subjectId,
  scope,
  limits: { ...limits },
})

async function balanceOf(
  { balances, creditUsd }: OperatorParts,
  organizationId: string,
): Promise<Static<typeof Schema.BalanceObject>> {
  const balance = (await balances.balance(organizationId)) ?? noBalance
  const remaining = remainingMicro(balance)
  return {
    organization_id: organizationId,
    remaining_credits: displayedBalance(remaining),
    debt_credits: inCredits(Math.max(0, -remaining)),
    granted_credits: inCredits(balance.grantedMicro),
    spent_credits: inCredits(balance.spentMicro),
    spent_usd: inUsd(balance.spentMicro, creditUsd),
  }
}
