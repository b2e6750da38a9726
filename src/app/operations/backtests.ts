import type { Static } from 'typebox'
import type { AuditedMutation } from '../../domain/identity/audited-mutation.ts'
import type { BacktestAdministration, BacktestStores } from '../../domain/evaluation/backtest/create.ts'
import { newBacktestOf, presentBacktest } from '../../http/admin/policies/backtest-present.ts'
import { CreateBacktest, type Backtest as BacktestObject } from '../../http/admin/policies/backtest-schema.ts'
import { createValidator, type Validate } from '../../http/validate.ts'
import { operatorOf, type InOrganization, type OrganizationOf } from './organization-of.ts'

/** A backtest in the words of the API. */
/** For the commands, which may not import the domain. */
export { changes } from '../../domain/evaluation/backtest/counts.ts'

export type ShownBacktest = Static<typeof BacktestObject>

type OfPolicy = InOrganization & { readonly id: string }

export type BacktestOperations = {
  'policies.backtest'(input: OfPolicy & { readonly order: object }): Promise<ShownBacktest>
  'policies.backtestOf'(input: OfPolicy & { readonly backtest: string }): Promise<ShownBacktest>
}

export type BacktestOperationParts = {
  readonly backtests: BacktestAdministration
  readonly reads: BacktestStores
  readonly administer: AuditedMutation<BacktestStores>
  readonly organizationOf: OrganizationOf
}

export function createBacktestOperations(parts: BacktestOperationParts): BacktestOperations {
  const { backtests, reads, administer, organizationOf } = parts
  const readOrder: Validate<Static<typeof CreateBacktest>> = createValidator(CreateBacktest)
  return {
    async 'policies.backtest'(input) {
      const organizationId = await organizationOf(input)
      const order = newBacktestOf(readOrder(input.order))
      const of = { organizationId, policyId: input.id }
      return presentBacktest(
        await administer(operatorOf(organizationId), (stores) => backtests.start(stores, of, order)),
      )
    },
    async 'policies.backtestOf'(input) {
      const of = { organizationId: await organizationOf(input), policyId: input.id }
      return presentBacktest(await backtests.find(reads, of, input.backtest))
    },
  }
}
