import Type, { type Static } from 'typebox'
import { integer, number } from '../../described.ts'
import { idText, orNull, timeFilter, unixTime } from '../../resources/fields.ts'

export const formats = ['json', 'csv'] as const

const valuesOf = (description: string, example: string) =>
  Type.Optional(
    Type.Array(idText(description, example), {
      minItems: 1,
      maxItems: 20,
      description: `${description} One of these values, if it is repeated.`,
    }),
  )

export const CostsQuery = Type.Object(
  {
    from: timeFilter('Start of the period, Unix seconds. Default: 30 days before its end.'),
    to: timeFilter('End of the period, exclusive. Default: now.'),
    group_by: Type.Array(Type.String({ minLength: 1, maxLength: 200, examples: ['project,tag:team'] }), {
      default: [],
      maxItems: 5,
      description:
        'At most three of `project`, `key`, `model`, `user`, `day` (in UTC) and `tag:NAME`, where the name is in the setting `budgets.tags`. Separated by commas, or repeated.',
    }),
    project_id: valuesOf('Only requests of this project.', 'proj_01k9z8y7x6w5v4t3s2r1q0p9n0'),
    api_key_id: valuesOf('Only requests of this key.', 'key_01k9z8y7x6w5v4t3s2r1q0p9n8'),
    model: valuesOf('Only requests to this model; with `*` at the end, to models whose names begin so.', 'gpt-5*'),
    user_id: valuesOf('Only requests of this end user.', 'ada'),
    tag: valuesOf('Only requests with this tag, such as `team=red`.', 'team=red'),
    limit: Type.Integer({
      minimum: 1,
      maximum: 5_000,
      default: 100,
      description: 'Most groups. All others are summed up in `other`.',
    }),
    format: Type.Optional(
      Type.Enum([...formats], {
        description:
          '`csv`: a file for spreadsheets; a text that a spreadsheet would run as a formula begins with an apostrophe. Default: CSV if `Accept` names `text/csv`, otherwise JSON.',
      }),
    ),
  },
  { additionalProperties: false },
)

const tokens = (description: string) => Type.Integer({ minimum: 0, description })

const sums = {
  requests: integer('Requests that were answered completely or partly.'),
  input_tokens: tokens('Input tokens, without those read from a cache.'),
  cache_read_tokens: tokens('Input tokens read from a cache.'),
  cache_write_tokens: tokens('Input tokens written to a cache.'),
  output_tokens: tokens('Output tokens.'),
  cost_usd: number('What they cost, in dollars to the millionth, rounded once.', { minimum: 0 }),
}

const CostTotals = Type.Object(sums, { title: 'CostTotals' })

const CostRow = Type.Object(
  {
    day: orNull(
      Type.Integer(),
      'Start of the day, Unix seconds. This and each further field is null unless `group_by` names it.',
    ),
    project_id: orNull(Type.String(), 'The project.'),
    project_name: orNull(Type.String(), 'Its present name. Needs the permission `projects:read`.'),
    api_key_id: orNull(Type.String(), 'The key or token. For requests of the playground: the administrator.'),
    api_key_name: orNull(Type.String(), 'Its present name. Needs the permission `keys:read`.'),
    model: orNull(Type.String(), 'The model.'),
    user_id: orNull(
      Type.String(),
      'The end user. Null also for requests without one, and for those that are older than `audit.retention_days`.',
    ),
    tags: Type.Record(Type.String(), orNull(Type.String()), {
      description: 'The tags that `group_by` names; null for requests without the tag.',
    }),
    ...sums,
  },
  { title: 'CostRow' },
)

const example = {
  object: 'organization.costs',
  from: 1_767_225_600,
  to: 1_769_904_000,
  data: [
    {
      day: null,
      project_id: 'proj_01k9z8y7x6w5v4t3s2r1q0p9n0',
      project_name: 'Support',
      api_key_id: null,
      api_key_name: null,
      model: null,
      user_id: null,
      tags: { team: 'red' },
      requests: 1200,
      input_tokens: 240_000,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: 81_000,
      cost_usd: 1.820401,
    },
  ],
  has_more: false,
  other: null,
  total: {
    requests: 1200,
    input_tokens: 240_000,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 81_000,
    cost_usd: 1.820401,
  },
}

export const CostsObject = Type.Object(
  {
    object: Type.Literal('organization.costs'),
    from: unixTime('Start of the period.'),
    to: unixTime('End of the period, exclusive.'),
    data: Type.Array(CostRow, { description: 'One row for each group, the most expensive first.' }),
    has_more: Type.Boolean({ description: 'Whether there are more groups than `limit`.' }),
    other: orNull(CostTotals, 'The sums of these; null if there are none.'),
    total: Type.Object(sums, {
      description:
        'The exact sums of all groups, rounded once, so the rounded rows may differ from it by a few millionths.',
    }),
  },
  { title: 'Costs', examples: [example] },
)

export type CostsBody = Static<typeof CostsObject>
