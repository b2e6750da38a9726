import Type from 'typebox'
import { decisions } from '../../../domain/audit/event/verdict.ts'
import { gatewayChanges } from '../../../domain/evaluation/backtest/gateway-counts.ts'
import { text } from '../../described.ts'
import {
  backtestExampleId,
  backtestId,
  count,
  coverage,
  endFields,
  eventChoiceFields,
  progressFields,
} from '../../resources/backtests.ts'
import { idText, orNull } from '../../resources/fields.ts'
import { GivenConfigurationBody } from '../../resources/gateway-configuration.ts'
import { listOf, pageExample } from '../../resources/list.ts'

export const CreateGatewayBacktest = Type.Object(
  { config: Type.Optional(GivenConfigurationBody), ...eventChoiceFields },
  {
    title: 'GatewayBacktestCreate',
    additionalProperties: false,
    examples: [{ config: { rules: { denylist: ['project x'] } }, limit: 5000 }, {}],
  },
)

export const GatewayBacktestParams = Type.Object({ backtest_id: idText('The backtest.', backtestExampleId) })

const counts = {
  newly_blocked: count('Went through then, denied by the configuration.'),
  newly_allowed: count('Denied by the gateway configuration of then, and by no check now.'),
  newly_modified: count('Went through unchanged then, redacted, rewritten or summed up by the configuration.'),
  no_longer_modified: count('Redacted, rewritten or summed up then, and unchanged with the configuration.'),
  changed_reason: count('Denied or changed then and now, by another check or in another way.'),
  unchanged: count('The configuration makes no difference.'),
  not_evaluated: count('What the configuration would change is not known.'),
}

const decision = (description: string) =>
  Type.Enum(
    decisions.filter((each) => each !== 'not_evaluated'),
    { description },
  )
const recorded = decision('What happened to the request when it was made.')
const candidate = decision('What the configuration decides.')

const Result = Type.Object(
  {
    ...counts,
    projects: Type.Array(
      Type.Object({ project_id: orNull(text('The project; null for requests without one.')), ...counts }),
      { description: 'The same counts for each project.' },
    ),
    decisions: Type.Array(Type.Object({ recorded, candidate, requests: count('How many requests.') }), {
      description: 'How many requests had which decision and would have which.',
    }),
    not_evaluated_reasons: Type.Array(
      Type.Object({
        reason: text(
          '`rejected_before_checks`: no check decided on the request then. Of requests that the configuration no longer denies: `judge_not_asked` if a policy in force needs the judge model, `metadata_missing` if one reads metadata, which is not stored.',
        ),
        requests: count('How many requests.'),
      }),
      { description: 'Why requests were not evaluated.' },
    ),
    coverage,
    example_requests: Type.Array(
      Type.Object({
        event_id: text('The event in the audit log.'),
        request_id: orNull(text('The request.')),
        project_id: orNull(text('Its project.')),
        change: Type.Enum([...gatewayChanges], { description: 'What the configuration would change.' }),
        recorded,
        candidate,
      }),
      { description: 'Requests to look at, at most twenty for each kind of difference.' },
    ),
  },
  { title: 'GatewayBacktestResult' },
)

const countsExample = {
  newly_blocked: 20,
  newly_allowed: 0,
  newly_modified: 3,
  no_longer_modified: 0,
  changed_reason: 0,
  unchanged: 897,
  not_evaluated: 0,
}

const example = {
  id: backtestExampleId,
  object: 'policy_gateway.backtest',
  config_digest: 'b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c',
  status: 'completed',
  progress: { done: 1000, total: 1000 },
  from: 1_766_620_800,
  to: 1_767_225_600,
  limit: 1000,
  sample_percent: 100,
  result: {
    ...countsExample,
    projects: [{ project_id: 'proj_01k9z8y7x6w5v4t3s2r1q0p9n0', ...countsExample }],
    decisions: [
      { recorded: 'allow', candidate: 'allow', requests: 897 },
      { recorded: 'allow', candidate: 'refuse', requests: 20 },
      { recorded: 'allow', candidate: 'redact', requests: 3 },
    ],
    not_evaluated_reasons: [],
    coverage: { events: 1000, sampled: 1000, with_text: 920, redacted_only: 0, from_sample: 0 },
    example_requests: [
      {
        event_id: 'evt_01k9z8y7x6w5v4t3s2r1q0p9n2',
        request_id: 'req_01k9z8y7x6w5v4t3s2r1q0p9n3',
        project_id: 'proj_01k9z8y7x6w5v4t3s2r1q0p9n0',
        change: 'newly_blocked',
        recorded: 'allow',
        candidate: 'refuse',
      },
    ],
  },
  error: null,
  created_at: 1_767_225_600,
  updated_at: 1_767_225_604,
}

/** A backtest after it was cancelled. */
export const cancelledExample = {
  ...example,
  status: 'cancelled',
  progress: { done: 350, total: 1000 },
  result: null,
  error: 'It was cancelled.',
}

export const GatewayBacktestObject = Type.Object(
  {
    id: backtestId,
    object: Type.Literal('policy_gateway.backtest'),
    config_digest: text('SHA-256 of the configuration with every field. Equal configurations have equal digests.'),
    ...progressFields,
    result: orNull(Result, 'Null until the backtest is completed.'),
    ...endFields,
  },
  { title: 'GatewayBacktest', examples: [example] },
)

export const GatewayBacktestList = listOf('GatewayBacktestList', GatewayBacktestObject, pageExample(example))
