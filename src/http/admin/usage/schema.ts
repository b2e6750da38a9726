import Type, { type Static } from 'typebox'
import { number, text } from '../../described.ts'
import { lastSecond } from '../../../base/clock.ts'
import { usageGroups } from '../../../domain/credits/reports.ts'
import { orNull, unixTime } from '../../resources/fields.ts'

export const UsageQuery = Type.Object(
  {
    start_time: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: lastSecond,
        description: 'Unix seconds; default: seven days before the end.',
      }),
    ),
    end_time: Type.Optional(
      Type.Integer({ minimum: 0, maximum: lastSecond, description: 'Unix seconds, exclusive; default: now.' }),
    ),
    bucket: Type.Enum(['hour', 'day', 'total'], {
      default: 'day',
      description: 'Length of a bucket, in UTC. `total`: the whole period is one bucket.',
    }),
    group_by: Type.Array(Type.Enum([...usageGroups]), {
      default: [],
      maxItems: usageGroups.length,
      description: 'Fields to group by; may be repeated.',
    }),
    page: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description:
          'The `next_page` of the page before, with its `bucket` and `group_by`. The period is that of the first page.',
        examples: ['1767225600000-1769817600000-1767657600000'],
      }),
    ),
  },
  { additionalProperties: false },
)

const tokens = (description: string) => Type.Integer({ minimum: 0, description })

const UsageResult = Type.Object(
  {
    project_id: orNull(Type.String(), 'Null unless `group_by` contains it.'),
    api_key_id: orNull(text('Null unless `group_by` contains it.')),
    model: orNull(text('Null unless `group_by` contains it.')),
    user_id: orNull(
      Type.String(),
      'The end user that the request named. Null for requests without one, and for those that are older than `audit.retention_days`.',
    ),
    requests: Type.Integer({ minimum: 0, description: 'Requests that were answered completely or partly.' }),
    input_tokens: tokens('Input tokens, without those read from a cache.'),
    cache_read_tokens: tokens('Input tokens read from a cache.'),
    cache_write_tokens: tokens('Input tokens written to a cache.'),
    output_tokens: tokens('Output tokens.'),
    credits: number('Credits used.', { minimum: 0 }),
    cost_usd: number('Their price in dollars.', { minimum: 0 }),
  },
  { title: 'UsageResult' },
)

const example = {
  object: 'organization.usage',
  start_time: 1_767_225_600,
  end_time: 1_767_312_000,
  data: [
    {
      start_time: 1_767_225_600,
      end_time: 1_767_312_000,
      results: [
        {
          project_id: null,
          api_key_id: null,
          model: 'gatehouse-echo',
          user_id: null,
          requests: 3,
          input_tokens: 1200,
          cache_read_tokens: 0,
          cache_write_tokens: 0,
          output_tokens: 640,
          credits: 13.2,
          cost_usd: 0.0132,
        },
      ],
    },
  ],
  has_more: false,
  next_page: null,
}

export const UsageObject = Type.Object(
  {
    object: Type.Literal('organization.usage'),
    start_time: unixTime('Start of the whole range.'),
    end_time: unixTime('End of the whole range, exclusive.'),
    data: Type.Array(
      Type.Object({
        start_time: unixTime('Start of this bucket.'),
        end_time: unixTime('End of this bucket, exclusive.'),
        results: Type.Array(UsageResult, { description: 'One result for each group.' }),
      }),
      { description: 'Buckets with usage, oldest first. A bucket is never split between pages.' },
    ),
    has_more: Type.Boolean({ description: 'Whether there are more pages; get the next one with `page=next_page`.' }),
    next_page: orNull(Type.String(), 'Where the next page starts; null on the last one.'),
  },
  { title: 'Usage', examples: [example] },
)

export type UsageBody = Static<typeof UsageObject>
