import Type, { type Static } from 'typebox'
import { budgetUnits } from '../../../domain/budgets/budget.ts'
import { flag, integer, number, text } from '../../described.ts'
import { orNull, unixTime } from '../../resources/fields.ts'
import { budgetExampleId } from './schema.ts'

const unit = Type.Enum([...budgetUnits], { description: 'What is counted: dollars, tokens or requests.' })

export const BudgetMemberStatus = Type.Object(
  {
    member: orNull(
      Type.String(),
      'The id of the project or key, the user, or the value of the tag; null if all requests share the amount.',
    ),
    name: orNull(Type.String(), 'The name of the project or key, if the caller may read it; null for others.'),
    amount: number('The amount, with the extra.'),
    spent: number('What was spent since the begin of the period.'),
    left: number('What is not spent, at least 0.'),
    percent: number('The share of the amount that was spent; above 100 if it was more than the amount.'),
    forecast: orNull(
      Type.Number(),
      'What is spent at the end of the period if it goes on like this; null for `once`, and in the first hour.',
    ),
  },
  { title: 'BudgetMember' },
)

const MemberWithHolds = Type.Object({
  ...BudgetMemberStatus.properties,
  held: orNull(
    Type.Number(),
    'What running requests may spend yet at most. Null for a budget that only warns, and if the counters cannot be read. Of nodes that count apart: on this one.',
  ),
})

export const BudgetStatusObject = Type.Object(
  {
    object: Type.Literal('organization.budget.status'),
    budget_id: text('The id of the budget.'),
    period_start: unixTime('When the current period began.'),
    period_end: orNull(unixTime('When it ends.'), 'When it ends; null for `once`.'),
    unit,
    members: Type.Array(MemberWithHolds, {
      description: 'At most 100 of those that have spent something, the highest share first.',
    }),
    has_more: flag('Whether there are further members.'),
  },
  {
    title: 'BudgetStatus',
    examples: [
      {
        object: 'organization.budget.status',
        budget_id: budgetExampleId,
        period_start: 1_767_222_000,
        period_end: 1_769_900_400,
        unit: 'usd',
        members: [
          {
            member: null,
            name: null,
            amount: 500,
            spent: 410.25,
            held: 0.4,
            left: 89.75,
            percent: 82.05,
            forecast: 635.8,
          },
        ],
        has_more: false,
      },
    ],
  },
)

export const BudgetPlanObject = Type.Object(
  {
    object: Type.Literal('organization.budget.plan'),
    from: unixTime('The begin of what was looked at.'),
    to: unixTime('The end of it.'),
    data: Type.Array(
      Type.Object({
        period_start: unixTime('When the period began.'),
        period_end: orNull(unixTime('When it ended.'), 'When it ended or ends; null for `once`.'),
        member: orNull(
          Type.String(),
          'The id of the project or key, the user, or the value of the tag; null if all requests share the amount.',
        ),
        name: orNull(Type.String(), 'The name of the project or key, if the caller may read it; null for others.'),
        reached_at: unixTime('The begin of the hour in which the amount was reached.'),
        requests_after: integer(
          'Requests of the period after that. Of those in the same hour, a share, as if they had cost the same.',
        ),
      }),
      { description: 'At most 100 periods and members, those with the most requests first.' },
    ),
    has_more: flag('Whether there are further ones.'),
    requests: integer('Requests after the amount was reached, of all periods and members.'),
    members: integer('Members that would have been stopped.'),
  },
  {
    title: 'BudgetPlan',
    examples: [
      {
        object: 'organization.budget.plan',
        from: 1_764_633_600,
        to: 1_767_225_600,
        data: [
          {
            period_start: 1_767_139_200,
            period_end: 1_767_225_600,
            member: 'ada',
            name: null,
            reached_at: 1_767_178_800,
            requests_after: 41,
          },
        ],
        has_more: false,
        requests: 41,
        members: 1,
      },
    ],
  },
)

export type BudgetMemberBody = Static<typeof BudgetMemberStatus>
export type BudgetStatusBody = Static<typeof BudgetStatusObject>
export type BudgetPlanBody = Static<typeof BudgetPlanObject>
