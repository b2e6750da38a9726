import Type from 'typebox'
import { integer, number, text, texts } from '../../described.ts'
import { orNull, timeFilter, unixTime } from '../../resources/fields.ts'

export const PeriodQuery = Type.Object(
  {
    from: timeFilter('Start of the period, Unix seconds. Default: a day before its end.'),
    to: timeFilter('End of the period, exclusive. Default: now.'),
    step: Type.Enum(['1m', '1h', '1d'], {
      default: '1h',
      description: 'Length of a step: a minute (the last two days), an hour or a day, in UTC.',
    }),
  },
  { additionalProperties: false },
)

const latencyFields = {
  from_ms: integer('Lower end of the range that it is in.'),
  to_ms: orNull(Type.Integer(), 'Upper end of that range; null above 60 seconds.'),
  estimate_ms: orNull(
    Type.Integer(),
    'The latency, interpolated in that range; null for fewer than 100 responses, of which the sums do not tell it.',
  ),
}

const figureFields = {
  requests: integer('Requests, also rejected ones.'),
  denied: integer('Of these, denied by a check.'),
  failed: integer('Of these, failed because of an upstream or of the service.'),
  rate_limited: integer('Of these, rejected by a rate limit.'),
  other_errors: integer(
    'Of these, failed for another reason, such as an unknown model. Failures and rate limits from before version 0.3 are among them.',
  ),
  p95: orNull(Type.Object(latencyFields, { title: 'LatencyRange' }), 'Latency that 95 of 100 responses were below.'),
}

const Figures = Type.Object(
  { ...figureFields, spent_usd: orNull(Type.Number(), 'What was spent; null without `usage:read`.') },
  { title: 'PeriodFigures' },
)

const Step = Type.Object(
  { start_time: unixTime('Start of the step.'), ...figureFields, cost_usd: number('What its requests cost.') },
  { title: 'PeriodStep' },
)

const spender = (what: string) =>
  Type.Array(
    Type.Object({
      id: text(`The id of the ${what}.`),
      name: orNull(Type.String(), `The name of the ${what}; null if it does not exist or may not be seen.`),
      spent_usd: number('What it spent.'),
      before_usd: number('What it spent in the period before.'),
    }),
  )

const DeniedBy = Type.Array(
  Type.Object({
    check: Type.Enum(['policy', 'gateway'], { description: 'A policy, or the gateway configuration.' }),
    policy_id: text('The id of the policy, or the `policy_id` of the gateway configuration.'),
    name: orNull(Type.String(), 'Its name, if it has one.'),
    denied: integer('Requests that it denied. One that several policies denied counts for each.'),
    before: integer('The same in the period before.'),
  }),
)

const Publications = Type.Array(
  Type.Object({
    at: unixTime('When it came into force.'),
    policy_id: orNull(Type.String(), 'The id of the policy; null for the gateway configuration.'),
    name: orNull(Type.String(), 'The name of the policy; null for the gateway configuration and deleted policies.'),
    version: orNull(Type.Integer(), 'The version.'),
    actor: orNull(
      Type.Object(
        {
          id: text('The id of the member or administrator key.'),
          name: orNull(Type.String(), 'The name; null if it is not known or may not be seen.'),
        },
        { title: 'PublicationActor' },
      ),
      'Who did it; null for the operator of the server.',
    ),
    event_id: text('The id of its event in the audit log.'),
  }),
)

const exampleFigures = {
  requests: 11_432,
  denied: 104,
  failed: 21,
  rate_limited: 240,
  other_errors: 9,
  p95: { from_ms: 500, to_ms: 1000, estimate_ms: 742 },
}

const example = {
  object: 'organization.overview.period',
  from: 1_767_139_200,
  to: 1_767_225_600,
  step: '1h',
  figures: { ...exampleFigures, spent_usd: 318.42 },
  before: { ...exampleFigures, requests: 10_785, spent_usd: 301.1 },
  failure_codes: ['upstream_error', 'upstream_timeout'],
  steps: [{ start_time: 1_767_139_200, ...exampleFigures, cost_usd: 13.4 }],
  denied_by: [
    { check: 'policy', policy_id: 'pol_01k9z8y7x6w5v4t3s2r1q0p9n8', name: 'No code names', denied: 61, before: 66 },
  ],
  spending_projects: [
    { id: 'proj_01k9z8y7x6w5v4t3s2r1q0p9n8', name: 'support-bot', spent_usd: 131.22, before_usd: 120.1 },
  ],
  spending_keys: [{ id: 'key_01k9z8y7x6w5v4t3s2r1q0p9n8', name: 'prod-eu', spent_usd: 88.4, before_usd: 92 }],
  publications: [
    {
      at: 1_767_170_000,
      policy_id: 'pol_01k9z8y7x6w5v4t3s2r1q0p9n8',
      name: 'No code names',
      version: 7,
      actor: { id: 'mem_01k9z8y7x6w5v4t3s2r1q0p9n8', name: 'Mara Lindqvist' },
      event_id: 'evt_01k9z8y7x6w5v4t3s2r1q0p9n8',
    },
  ],
}

export const PeriodObject = Type.Object(
  {
    object: Type.Literal('organization.overview.period'),
    from: unixTime('Start of the period.'),
    to: unixTime('Its end, exclusive.'),
    step: Type.Enum(['1m', '1h', '1d'], { description: 'Length of a step.' }),
    figures: Type.Object(Figures.properties, { title: 'CurrentFigures', description: 'The figures of the period.' }),
    before: Type.Object(Figures.properties, {
      title: 'EarlierFigures',
      description: 'The figures of the period of the same length before it.',
    }),
    failure_codes: texts('The codes of errors that count as failed, for the filter `error` of requests.'),
    steps: Type.Array(Step, { description: 'Every step of the period, also those without requests.' }),
    denied_by: orNull(DeniedBy, 'What denied most requests, the first five; null without `policies:read`.'),
    spending_projects: orNull(spender('project'), 'The projects that spent most; null without `usage:read`.'),
    spending_keys: orNull(spender('key or token'), 'The keys that spent most; null without `usage:read`.'),
    publications: Type.Array(Publications.items, {
      description:
        'Versions of policies and of the gateway configuration that came into force, oldest first. At most the last 20 of each.',
    }),
  },
  { title: 'OverviewPeriod', examples: [example] },
)
