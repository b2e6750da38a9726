import Type, { type TSchema } from 'typebox'
import { requestStatuses } from '../../../domain/audit/chain/chained-event.ts'
import { decisions } from '../../../domain/audit/event/verdict.ts'
import { idText, timeFilter } from '../../resources/fields.ts'

const maxValues = 20

/** Several values, by repeating the parameter. */
const valuesOf = <Item extends TSchema>(item: Item, description: string) =>
  Type.Optional(Type.Array(item, { minItems: 1, maxItems: maxValues, description }))

const is = <Item extends TSchema>(item: Item, what: string) =>
  valuesOf(item, `Only requests ${what}; one of these values, if it is repeated.`)
const isNot = <Item extends TSchema>(item: Item, what: string) =>
  valuesOf(item, `No requests ${what}; none of these values, if it is repeated.`)

const decision = Type.Enum([...decisions])
const status = Type.Enum([...requestStatuses])
const model = idText('A model.', 'gpt-5-mini')
const projectId = idText('A project.', 'proj_01k9z8y7x6w5v4t3s2r1q0p9n0')
const policyId = idText('A policy.', 'pol_01k9z8y7x6w5v4t3s2r1q0p9n8')
const apiKeyId = idText('A key or token.', 'key_01k9z8y7x6w5v4t3s2r1q0p9n8')
const userId = idText('An end user.', 'ada')
const reasonCode = idText('A reason.', 'PII_EMAIL')
const error = idText('An error.', 'rate_limit_exceeded')
const category = idText('A category.', 'hate')

const what = {
  decision: 'with this decision',
  status: 'that were answered (`ok`), denied by a check, or failed for another reason (`error`)',
  model: 'for this model',
  projectId: 'of this project',
  policyId: 'that this policy decided',
  apiKeyId: 'of this key or token',
  userId: 'of this end user',
  reasonCode: 'with this reason',
  error: 'with this code of the error response, unless they were recorded by a version without this filter',
  category: 'in which this category was found',
}

const startOfModel = `${what.model}, or with \`gpt-5*\` for all models whose names start with \`gpt-5\``

/** The fields that the sums of traffic have. */
export const TrafficFilterFields = {
  decision: is(decision, what.decision),
  not_decision: isNot(decision, what.decision),
  status: is(status, what.status),
  not_status: isNot(status, what.status),
  model: is(model, what.model),
  not_model: isNot(model, what.model),
  project_id: is(projectId, what.projectId),
  not_project_id: isNot(projectId, what.projectId),
}

/** What requests are filtered by, in the list, the export and the stream. */
export const RequestFilterFields = {
  ...TrafficFilterFields,
  model: is(model, startOfModel),
  not_model: isNot(model, startOfModel),
  policy_id: is(policyId, what.policyId),
  not_policy_id: isNot(policyId, what.policyId),
  api_key_id: is(apiKeyId, what.apiKeyId),
  not_api_key_id: isNot(apiKeyId, what.apiKeyId),
  user_id: is(userId, what.userId),
  not_user_id: isNot(userId, what.userId),
  reason_code: is(reasonCode, what.reasonCode),
  not_reason_code: isNot(reasonCode, what.reasonCode),
  error: is(error, what.error),
  not_error: isNot(error, what.error),
  category: is(category, what.category),
  not_category: isNot(category, what.category),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: '^[^\\u0000]*$',
      description:
        'Only requests with this text in the model, the end user, the name of the key, project or policy, the reason, the error, or the id of the request or its event. Upper and lower case are the same for ASCII letters. The texts of requests are not searched.',
      examples: ['billing'],
    }),
  ),
  min_ms: Type.Optional(Type.Integer({ minimum: 0, description: 'Minimum latency in milliseconds.' })),
  min_cost_usd: Type.Optional(Type.Number({ minimum: 0, description: 'Minimum cost in US dollars.' })),
  from: timeFilter('Only requests at this Unix time or later.'),
  to: timeFilter('Only requests before this Unix time.'),
}
