import Type from 'typebox'
import { attentionKinds } from '../../../domain/overview/attention.ts'
import { sinkStates } from '../../../domain/audit/export/cursor.ts'
import { upstreamStates } from '../../../domain/inference/upstream-status.ts'
import { flag, integer, number, text } from '../../described.ts'
import { orNull, unixTime } from '../../resources/fields.ts'

const example = {
  object: 'organization.overview',
  now: { requests_per_second: 12.4, in_flight: 66, denied_share: 0.0091, error_share: 0.0018, p95_ms: 742 },
  spend: { today_usd: 318.42, month_usd: 6902.17, balance_usd: 1286.4, days_left: 2.6 },
  health: [{ part: 'storage', state: 'ok', text: null }],
  upstreams: [{ name: 'claude', state: 'ok', in_flight: 41, p95_ms: 812, last_error: null, skipped_seconds: 0 }],
  sinks: [
    {
      id: 'sink_01k9z8y7x6w5v4t3s2r1q0p9n8',
      name: 's3-archive',
      state: 'healthy',
      waiting_events: 0,
      last_error: null,
    },
  ],
  attention: [
    {
      kind: 'credit_low',
      severity: 'warning',
      text: 'The credit lasts for 2.6 days',
      object_id: null,
      since: null,
    },
  ],
  first_steps: null,
}

const nowFields = {
  requests_per_second: number('Requests of the organization.'),
  in_flight: integer('Requests of all organizations that this node is answering.'),
  denied_share: number('Share that a check denied, from 0 to 1.'),
  error_share: number('Share that failed for another reason.'),
  p95_ms: orNull(
    Type.Integer(),
    'Latency that 95 of 100 responses were below, interpolated in one of twelve ranges: of few responses, it is no closer than the range.',
  ),
}

/** The data of an event of the stream. */
export const OverviewTick = Type.Object(nowFields, { title: 'OverviewTick', examples: [example.now] })

export const OverviewObject = Type.Object(
  {
    object: Type.Literal('organization.overview'),
    now: Type.Object(nowFields, { description: 'The last minute.' }),
    spend: Type.Object(
      {
        today_usd: number('Spent since midnight, UTC.'),
        month_usd: number('Spent since the first of the month, UTC.'),
        balance_usd: orNull(Type.Number(), 'What is left; null if the organization is not metered.'),
        days_left: orNull(Type.Number(), 'For how many days it lasts at the rate of the last week.'),
      },
      { description: 'What requests cost.' },
    ),
    health: Type.Array(
      Type.Object({
        part: text('A part of the service.'),
        state: Type.Enum(['ok', 'degraded', 'failing'], {
          description: 'Working, failing without preventing requests, or preventing them.',
        }),
        text: orNull(Type.String(), 'What is wrong.'),
      }),
      { description: 'The parts of the service, as this node sees them.' },
    ),
    upstreams: Type.Array(
      Type.Object({
        name: text('The upstream.'),
        state: Type.Enum([...upstreamStates], {
          description:
            'The last call succeeded, the last call failed, it is skipped after several failures, or this node has not called it yet.',
        }),
        in_flight: integer('Calls that this node is waiting for.'),
        p95_ms: orNull(Type.Integer(), 'Duration that 95 of 100 of the last calls were below.'),
        last_error: orNull(Type.String(), 'The code of the last failure.'),
        skipped_seconds: integer('For how long it is still skipped; 0 if it is not.'),
      }),
      { description: 'The upstreams as this node sees them. Empty without `system:read`.' },
    ),
    sinks: Type.Array(
      Type.Object({
        id: text('The id of the sink.'),
        name: text('Its label.'),
        state: Type.Enum([...sinkStates, 'disabled'], { description: 'Its state, as the list of sinks has it.' }),
        waiting_events: integer('Events that were not sent yet.'),
        last_error: orNull(Type.String(), 'What its last failure was.'),
      }),
      { description: 'The export sinks. Empty without `exports:read`.' },
    ),
    attention: Type.Array(
      Type.Object({
        kind: Type.Enum([...attentionKinds], { description: 'What it is about.' }),
        severity: Type.Enum(['info', 'warning', 'error'], { description: 'How urgent it is.' }),
        text: text('What needs attention, in one sentence.'),
        object_id: orNull(Type.String(), 'The id of the policy, sink or key, or the name of the upstream.'),
        since: orNull(unixTime('Since when.'), 'Since when, if it is known.'),
      }),
      { description: 'What needs a person, the worst first. It has only what the permissions of the caller show.' },
    ),
    first_steps: orNull(
      Type.Object(
        {
          request_id: orNull(Type.String(), 'The newest request; null if there was none.'),
          has_policy: flag('Whether a policy was published.'),
          has_model: flag('Whether there is a model beside the built-in one that repeats its input.'),
        },
        { title: 'FirstSteps' },
      ),
      'What anybody in the organization has done to set it up; null once all of it is done.',
    ),
  },
  { title: 'Overview', examples: [example] },
)
