import Type, { type Static } from 'typebox'
import { lastSecond } from '../../../base/clock.ts'
import { budgetPeriods } from '../../../domain/budgets/budget.ts'
import { maxNameLength } from '../../../domain/identity/bounds.ts'
import { maxRevision } from '../../../domain/policy/policy.ts'
import { integer, number, text } from '../../described.ts'
import { idText, orNull, unixTime } from '../../resources/fields.ts'
import { managedBy } from '../../resources/managed-by.ts'

const strict = { additionalProperties: false }
const maxListed = 100

export const budgetExampleId = 'bud_01k9z8y7x6w5v4t3s2r1q0p9n8'

export const BudgetParams = Type.Object({ budget_id: idText('The budget.', budgetExampleId) })

export const stateOf = (description: string) => Type.Enum(['active', 'paused'], { description })

const name = text('A name that no other budget of the organization has.', {
  minLength: 1,
  maxLength: maxNameLength,
  examples: ['Team red'],
})
const listed = (description: string, example: string) =>
  Type.Array(idText('One of them.', example), { maxItems: maxListed, description })
export const matchFields = {
  project_ids: listed('Projects.', 'proj_01k9z8y7x6w5v4t3s2r1q0p9n8'),
  api_key_ids: listed('API keys.', 'key_01k9z8y7x6w5v4t3s2r1q0p9n8'),
  models: listed('Models by the names that callers send. A trailing `*` matches every name with this prefix.', 'gpt-*'),
  users: listed('End users, as requests name them.', 'ada'),
  tags: Type.Record(Type.String(), listed('Values of the tag.', 'red'), {
    maxProperties: 8,
    description: 'Values by the name of the tag. Only the tags in `budgets.tags` of the configuration are read.',
    examples: [{ team: ['red'] }],
  }),
}
const matchDescription =
  'The requests that the budget applies to: those that meet every condition. An empty list is no condition.'
const givenMatch = Type.Partial(Type.Object(matchFields), {
  ...strict,
  title: 'GivenBudgetMatch',
  description: `${matchDescription} It is replaced as a whole.`,
})
const per = Type.String({
  pattern: '^(all|project|key|user|tag:[a-z][a-z0-9_-]{0,31})$',
  description:
    'Who has an amount of their own: `all` requests share one; or each `project`, `key`, `user` or value of a tag (`tag:team`) has one. A request that names no user, or has no such tag, does not count.',
  examples: ['user'],
})
const amounts = {
  amount_usd: orNull(
    Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000_000 }),
    'The amount in US dollars, with at most 6 decimals. Exactly one of `amount_usd`, `tokens` and `requests` is set.',
  ),
  tokens: orNull(
    Type.Integer({ minimum: 1, maximum: 1_000_000_000_000_000 }),
    'The amount in tokens of input and output.',
  ),
  requests: orNull(Type.Integer({ minimum: 1, maximum: 1_000_000_000_000_000 }), 'The amount in requests.'),
}
const givenAmounts = {
  amount_usd: Type.Optional(amounts.amount_usd),
  tokens: Type.Optional(amounts.tokens),
  requests: Type.Optional(amounts.requests),
}
const period = Type.Enum([...budgetPeriods], {
  description:
    'The period of the calendar after which the amount is there again. Weeks begin on Monday. `once` never begins again.',
})
const timeZone = text(
  'The IANA name of the time zone in which periods begin. They begin with a full hour of UTC, so in zones with half hours up to 45 minutes before midnight.',
  { minLength: 1, maxLength: 64, examples: ['Europe/Berlin'] },
)
const action = Type.String({
  pattern: '^(deny|warn|use_model:[^\\u0000]{1,200})$',
  description:
    'What happens to a request over the amount: `deny` rejects it, `warn` lets it pass, and `use_model:NAME` continues with the model of this name.',
  examples: ['deny'],
})
const warnAt = Type.Array(Type.Integer({ minimum: 1, maximum: 100 }), {
  maxItems: 10,
  description: 'Shares of the amount in percent. Each is reported once in a period, for each member.',
})
const extraAmount = number('Raises the amount by this, in dollars, tokens or requests.', { exclusiveMinimum: 0 })
const reason = text('Why. It is in the audit log.', { minLength: 1, maxLength: 500, examples: ['Launch week'] })
const extraDescription =
  'Raises the amount of the current period. A change of the unit, the period or the time zone ends it. Null: none.'
const extra = orNull(
  Type.Object(
    { amount: extraAmount, until: unixTime('When it ends.'), reason },
    { title: 'BudgetExtra', description: extraDescription },
  ),
)
const givenExtra = orNull(
  Type.Object(
    {
      amount: extraAmount,
      until: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: lastSecond,
          description:
            'When it ends, in Unix seconds, at the latest with the period. Default: the end of the period; required for `once`.',
        }),
      ),
      reason,
    },
    { ...strict, title: 'GivenBudgetExtra', description: extraDescription },
  ),
)
const state = stateOf('A `paused` budget counts nothing and rejects nothing.')

const further = {
  match: Type.Optional(givenMatch),
  per: Type.Optional(per),
  time_zone: Type.Optional(timeZone),
  action: Type.Optional(action),
  warn_at: Type.Optional(warnAt),
  extra: Type.Optional(givenExtra),
  state: Type.Optional(state),
}

export const CreateBudget = Type.Object(
  { name, period, ...givenAmounts, ...further },
  {
    ...strict,
    title: 'BudgetCreate',
    examples: [{ name: 'Team red', amount_usd: 500, period: 'month', time_zone: 'Europe/Berlin', action: 'deny' }],
  },
)

export const UpdateBudget = Type.Object(
  {
    revision: integer('The revision that the caller has read. Responds with 409 if the budget has changed since.', {
      minimum: 1,
      maximum: maxRevision,
      examples: [1],
    }),
    name: Type.Optional(name),
    period: Type.Optional(period),
    ...givenAmounts,
    ...further,
  },
  { ...strict, title: 'BudgetUpdate', examples: [{ revision: 1, amount_usd: 600 }] },
)

export const budgetExample = {
  id: budgetExampleId,
  object: 'organization.budget',
  name: 'Team red',
  match: { project_ids: [], api_key_ids: [], models: [], users: [], tags: { team: ['red'] } },
  per: 'all',
  amount_usd: 500,
  tokens: null,
  requests: null,
  period: 'month',
  time_zone: 'Europe/Berlin',
  action: 'deny',
  warn_at: [50, 80, 95],
  extra: null,
  state: 'active',
  revision: 1,
  created_at: 1_767_225_600,
  updated_at: 1_767_225_600,
}

/** The fields of a budget, in a list as well. */
export const budgetFields = {
  id: text('The id of the budget.'),
  object: Type.Literal('organization.budget'),
  name,
  match: Type.Object(matchFields, { title: 'BudgetMatch', description: matchDescription }),
  per,
  ...amounts,
  period,
  time_zone: timeZone,
  action,
  warn_at: warnAt,
  extra,
  state,
  revision: integer('The number of changes. Name it to change only what you have read.'),
  managed_by: managedBy,
  created_at: unixTime('When it was created.'),
  updated_at: unixTime('When it was last changed.'),
}

export const BudgetObject = Type.Object(budgetFields, { title: 'Budget', examples: [budgetExample] })

export const DeletedBudget = Type.Object(
  {
    object: Type.Literal('organization.budget.deleted'),
    id: text('Its id.'),
    deleted: Type.Literal(true),
  },
  {
    title: 'DeletedBudget',
    examples: [{ object: 'organization.budget.deleted', id: budgetExampleId, deleted: true }],
  },
)

export type BudgetBody = Static<typeof BudgetObject>
export type CreateBudgetBody = Static<typeof CreateBudget>
export type GivenBudgetBody = Partial<CreateBudgetBody>
