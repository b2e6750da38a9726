import Type, { type Static } from 'typebox'
import type { ChainedDocument } from '../../../domain/audit/event/document.ts'
import { text } from '../../described.ts'
import { orNull } from '../../resources/fields.ts'

export const modelSwitch = orNull(
  Type.Object(
    {
      requested_model: text('The model that the request asked for.'),
      budget_id: text('The budget, whose amount did not cover the request.'),
    },
    { title: 'RequestModelSwitch' },
  ),
  'The budget that continued the request with another model than it asked for; null if none did.',
)

/** What a budget changed, as the event records it. */
export function modelSwitchOf({ unmapped }: ChainedDocument): Static<typeof modelSwitch> {
  const { requested_model: model, switched_by_budget: budgetId } = unmapped.gatehouse
  return typeof model === 'string' && typeof budgetId === 'string'
    ? { requested_model: model, budget_id: budgetId }
    : null
}
