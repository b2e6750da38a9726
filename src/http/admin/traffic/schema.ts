import Type from 'typebox'
import { trafficGroups } from '../../../domain/traffic/traffic.ts'
import { integer, number } from '../../described.ts'
import { TrafficFilterFields } from '../requests/filter-schema.ts'
import { orNull, timeFilter, unixTime } from '../../resources/fields.ts'

export const trafficSteps = { '1m': 60, '1h': 3_600, '1d': 86_400 } as const

export const TrafficQuery = Type.Object(
  {
    from: timeFilter('Start of the period, Unix seconds. Default: a day before its end.'),
    to: timeFilter('End of the period, exclusive. Default: now.'),
    step: Type.Enum(['1m', '1h', '1d'], {
      default: '1h',
      description: 'Length of a step: a minute (the last two days), an hour or a day, in UTC.',
    }),
    group_by: Type.Optional(Type.Enum([...trafficGroups], { description: 'What requests are grouped by.' })),
    ...TrafficFilterFields,
  },
  { additionalProperties: false },
)

const groupField = (description: string) => Type.Optional(Type.String({ description }))

const TrafficResult = Type.Object(
  {
    decision: groupField('The decision, if grouped by it.'),
    status: groupField('`ok`, `denied` or `error`, if grouped by it.'),
    model: groupField('The model, if grouped by it.'),
    project: groupField('The id of the project, if grouped by it.'),
    upstream: groupField('The upstream, if grouped by it; empty if none answered.'),
    key: groupField('The id of the API key or token, if grouped by it; empty for requests without one.'),
    requests: integer('Requests, also rejected ones.'),
    denied: integer('Of these, denied by a check.'),
    errors: integer('Of these, failed for another reason.'),
    input_tokens: integer('Tokens of prompts.'),
    output_tokens: integer('Tokens of responses.'),
    cost_usd: number('What they cost.'),
    latency_ms: orNull(
      Type.Object(
        {
          p50: integer('Half of the responses were faster.'),
          p95: integer('95 of 100 were faster.'),
          p99: integer('99 of 100 were faster.'),
        },
        { title: 'LatencyPercentiles' },
      ),
      'Latency of responses, estimated from twelve ranges; null without responses.',
    ),
  },
  { title: 'TrafficResult' },
)

const example = {
  object: 'organization.traffic',
  step: '1h',
  data: [
    {
      start_time: 1_767_225_600,
      results: [
        {
          decision: 'allow',
          requests: 1200,
          denied: 0,
          errors: 3,
          input_tokens: 240_000,
          output_tokens: 81_000,
          cost_usd: 1.82,
          latency_ms: { p50: 640, p95: 2100, p99: 4300 },
        },
      ],
    },
  ],
}

export const TrafficObject = Type.Object(
  {
    object: Type.Literal('organization.traffic'),
    step: Type.Enum(['1m', '1h', '1d'], { description: 'Length of a step.' }),
    data: Type.Array(
      Type.Object({
        start_time: unixTime('Start of the step.'),
        results: Type.Array(TrafficResult, { description: 'One for each group.' }),
      }),
      { description: 'Every step of the period, also those without requests.' },
    ),
  },
  { title: 'Traffic', examples: [example] },
)
