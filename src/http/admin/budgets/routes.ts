import type { Budget } from '../../../domain/budgets/budget.ts'
import { findBudget, type BudgetAdministration } from '../../../domain/budgets/mutations.ts'
import type { BudgetStore } from '../../../domain/budgets/store.ts'
import type { ModelSetOf } from '../../../domain/inference/model-set.ts'
import { none } from '../../resources/fields.ts'
import type { ManagedResource } from '../../resources/managed-by.ts'
import type { Route } from '../../route.ts'
import { invalidField } from '../../validate.ts'
import type { AdminRoutes } from '../routes.ts'
import { actionOf, patchOf, presentBudget, settingsOf } from './body.ts'
import * as Schema from './schema.ts'

export const budgetsPath = '/v1/organization/budgets'
export const budgetPath = `${budgetsPath}/{budget_id}`

const answer = { description: 'The budget.', schema: Schema.BudgetObject }

export type BudgetStores = { readonly budgets: BudgetStore }

type Actor = { readonly organization: { readonly id: string } }

type BudgetRouteParts = {
  readonly administration: BudgetAdministration
  readonly modelSetOf: ModelSetOf
}

/** `/v1/organization/budgets`: how much requests may spend in a period. */
export function budgetRoutes(
  { read, mutation }: AdminRoutes<BudgetStores>,
  { administration, modelSetOf }: BudgetRouteParts,
): Route[] {
  /** The catalogue cannot be read in the transaction. */
  async function hasModel({ organization }: Actor, text: string | undefined): Promise<boolean> {
    const action = text === undefined ? undefined : actionOf(text)
    if (action?.type !== 'use_model') return true
    const { catalogue } = await modelSetOf(organization.id)
    return catalogue.find(action.model) !== undefined
  }

  return [
    mutation({
      name: 'createBudget',
      method: 'POST',
      path: budgetsPath,
      summary: 'Create a budget',
      description: 'It applies to requests that start after it, on other nodes within a second.',
      permission: 'budgets:write',
      params: none,
      query: none,
      body: Schema.CreateBudget,
      status: 201,
      answer,
      prepare: (_reads, { actor, body }) => hasModel(actor, body.action),
      operation({ budgets }, { actor, body, prepared }) {
        requireModel(prepared)
        return administration.create(budgets, actor.organization.id, settingsOf(body))
      },
      managed,
      present: presentBudget,
    }),
    read({
      name: 'getBudget',
      isManaged: true,
      path: budgetPath,
      summary: 'Read a budget',
      permission: 'budgets:read',
      params: Schema.BudgetParams,
      query: none,
      answer,
      operation: async ({ budgets }, { actor, params }) =>
        presentBudget(await findBudget(budgets, budgetAt(actor, params))),
    }),
    mutation({
      name: 'updateBudget',
      method: 'PATCH',
      path: budgetPath,
      summary: 'Change a budget',
      description:
        'Fields that are left out stay as they are. What was spent in the current period still counts. Setting another one of `amount_usd`, `tokens` and `requests` changes what is counted.',
      permission: 'budgets:write',
      params: Schema.BudgetParams,
      query: none,
      body: Schema.UpdateBudget,
      answer,
      prepare: (_reads, { actor, body }) => hasModel(actor, body.action),
      operation({ budgets }, { actor, params, body: { revision, ...given }, prepared }) {
        requireModel(prepared)
        return administration.update(budgets, { ...budgetAt(actor, params), revision }, patchOf(given))
      },
      managed,
      present: presentBudget,
    }),
    mutation({
      name: 'deleteBudget',
      method: 'DELETE',
      path: budgetPath,
      summary: 'Delete a budget',
      permission: 'budgets:write',
      params: Schema.BudgetParams,
      query: none,
      body: none,
      answer: { description: 'The id of the deleted budget.', schema: Schema.DeletedBudget },
      operation: ({ budgets }, { actor, params }) => administration.remove(budgets, budgetAt(actor, params)),
      removes: ({ id }) => ({ id }),
      present: ({ id }) => ({ object: 'organization.budget.deleted', id, deleted: true }),
    }),
  ]
}

export const budgetAt = ({ organization }: Actor, { budget_id: id }: { readonly budget_id: string }) => ({
  organizationId: organization.id,
  id,
})

const managed = ({ id }: Budget): ManagedResource => ({ id, kind: 'budget.updated' })

function requireModel(isKnown: boolean | undefined): void {
  if (isKnown === false) throw invalidField(['action'], 'must name a model that the organization can use')
}
