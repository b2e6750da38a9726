import Type, { type Static } from 'typebox'
import { integer } from '../../described.ts'
import { orNull, unixTime } from '../../resources/fields.ts'
import { listOf, listQuery, nameSearch, pageExample } from '../../resources/list.ts'
import { BudgetMemberStatus } from './report-schema.ts'
import { budgetExample, budgetFields, stateOf } from './schema.ts'

/** Sums of costs are read for each budget of the page. */
export const mostWithStatus = 20

export const BudgetQuery = listQuery({
  search: nameSearch,
  state: Type.Optional(stateOf('Only budgets in this state.')),
  include: Type.Optional(
    Type.Enum(['status'], {
      description: `\`status\`: with what was spent in the current period. Then \`limit\` is at most ${mostWithStatus}.`,
    }),
  ),
})

const BudgetSummaryObject = Type.Object(
  {
    period_start: unixTime('When the current period began.'),
    period_end: orNull(unixTime('When it ends.'), 'When it ends; null for `once`.'),
    members: integer('Members that have spent something.'),
    near: integer('Of these, those that have reached the lowest share in `warn_at`; 0 if it has none.'),
    highest: orNull(
      BudgetMemberStatus,
      'The member with the highest share; null if none has spent anything. With `per` `all` it is never null.',
    ),
  },
  { title: 'BudgetSummary' },
)

const ListedBudget = Type.Object(
  {
    ...budgetFields,
    status: Type.Optional(
      orNull(
        BudgetSummaryObject,
        'What was spent in the current period; null if it cannot be read now. Only with `include=status`.',
      ),
    ),
  },
  { title: 'ListedBudget' },
)

export const BudgetList = listOf('BudgetList', ListedBudget, pageExample(budgetExample))

export type BudgetSummaryBody = Static<typeof BudgetSummaryObject>
