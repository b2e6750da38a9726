import Type, { type Static } from 'typebox'
import { amountOf } from '../../domain/budgets/amount.ts'
import { fieldOfAmount } from '../../domain/budgets/complete.ts'
import { settingsOf } from '../../http/admin/budgets/body.ts'
import { CreateBudget, matchFields } from '../../http/admin/budgets/schema.ts'
import { problemsOf, type FileProblem } from './file-problems.ts'
import { entryId, projectName } from './policy-entry.ts'

const strict = { additionalProperties: false }
const { extra: _extra, match: _match, ...settings } = CreateBudget.properties
const { project_ids: _projectIds, ...match } = matchFields

/** A budget in a file of resources. An extra is given for one period, so it is not in files. */
export const BudgetEntry = Type.Object(
  {
    id: entryId,
    ...settings,
    match: Type.Optional(
      Type.Partial(
        Type.Object({
          projects: Type.Array(projectName, { maxItems: 100, description: 'Projects, by name or id.' }),
          ...match,
        }),
        { ...strict, description: 'The requests that the budget applies to. An empty list is no condition.' },
      ),
    ),
  },
  strict,
)

export type BudgetFileEntry = Static<typeof BudgetEntry>

/** What a schema cannot express. Names that only the service knows are checked there. */
export const budgetProblems = ({ id: _id, match: _conditions, ...entry }: BudgetFileEntry): FileProblem[] =>
  problemsOf(() => {
    const { unit, value } = settingsOf(entry).amount
    amountOf(unit, value, fieldOfAmount(unit))
  })
