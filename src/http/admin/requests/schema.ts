import Type, { type Static } from 'typebox'
import { requestStatuses } from '../../../domain/audit/chain/chained-event.ts'
import { checks, decisions } from '../../../domain/audit/event/verdict.ts'
import { callerFormats } from '../../../domain/inference/formats.ts'
import { secondStages } from '../../../domain/scan/classify/classifier.ts'
import { operationNames } from '../../../domain/inference/operations.ts'
import { flag, integer, number, text } from '../../described.ts'
import { idText, orNull, unixTime } from '../../resources/fields.ts'
import { listOf, listQuery, pageExample } from '../../resources/list.ts'
import { outcomeFields } from '../../resources/outcome.ts'
import { RequestContent } from './content-schema.ts'
import { RequestFilterFields } from './filter-schema.ts'
import { modelSwitch } from './model-switch.ts'

const requestId = 'req_01k9z8y7x6w5v4t3s2r1q0p9n8'
export const RequestParams = Type.Object({ request_id: idText('The request.', requestId) })

export const RequestQuery = listQuery({
  ...RequestFilterFields,
  include: Type.Optional(
    Type.Enum(['total'], {
      description:
        '`total`: also counts the requests that match. It takes longer than the list, so send it as a request of its own with `limit=1`.',
    }),
  ),
})

const example = {
  id: requestId,
  object: 'organization.request',
  event_id: 'evt_01k9z8y7x6w5v4t3s2r1q0p9n8',
  sequence: 42,
  created_at: 1_767_225_600,
  created_at_ms: 1_767_225_600_460,
  status: 'denied',
  decision: 'refuse',
  is_enforced: true,
  reason_code: 'POLICY_MATCH',
  check: 'policy',
  policy_id: 'pol_01k9z8y7x6w5v4t3s2r1q0p9n8',
  policy_name: 'No payment data in answers',
  categories: [],
  model: 'gpt-5-mini',
  upstream: 'openai',
  operation: 'chat',
  dialect: 'messages',
  stream: true,
  project_id: 'proj_01k9z8y7x6w5v4t3s2r1q0p9n0',
  api_key_id: 'key_01k9z8y7x6w5v4t3s2r1q0p9n8',
  actor_type: 'api_key',
  user_id: 'ada',
  input_tokens: 272,
  output_tokens: 46,
  cost_usd: 0.001813,
  credits: 2,
  latency_ms: 1804,
  error: null,
}

const fields = {
  id: text('The id of the request.'),
  object: Type.Literal('organization.request'),
  event_id: text('Its event in the audit log.'),
  sequence: integer('Position of the event in the chain of the organization.'),
  created_at: unixTime('When it was received.'),
  created_at_ms: integer('The same in milliseconds.'),
  status: Type.Enum([...requestStatuses], {
    description: 'Answered, denied by a check, or failed for another reason.',
  }),
  decision: Type.Enum([...decisions], { description: 'The decision of the checks.' }),
  is_enforced: Type.Boolean({ description: 'False: the decision was recorded and not applied.' }),
  reason_code: orNull(Type.String(), 'Why, as a code.'),
  check: orNull(Type.Enum([...checks]), 'The check that decided, as in `outcomes`; null if every check allowed it.'),
  policy_id: orNull(Type.String(), 'The policy that decided, or the `policy_id` of the gateway configuration.'),
  policy_name: orNull(Type.String(), 'Its name at that time.'),
  categories: Type.Array(Type.String(), { description: 'The categories that were found.' }),
  model: text('The model that the caller named.'),
  upstream: orNull(Type.String(), 'The upstream that answered.'),
  operation: Type.Enum([...operationNames], { description: 'What the model was asked to do.' }),
  dialect: orNull(Type.Enum([...callerFormats]), 'The format of the caller; null for another operation than `chat`.'),
  stream: Type.Boolean({ description: 'Whether the response was streamed.' }),
  project_id: orNull(Type.String(), 'The project of the key.'),
  api_key_id: orNull(Type.String(), 'The key or token. For a request of the playground: the administrator.'),
  actor_type: orNull(
    Type.String(),
    'The kind of credential: `api_key` or `jwt`. Others, such as `console` and `admin_key`, sent it from the playground.',
  ),
  user_id: orNull(Type.String(), 'The end user.'),
  input_tokens: orNull(Type.Integer(), 'Tokens of the prompt.'),
  output_tokens: orNull(Type.Integer(), 'Tokens of the answer.'),
  cost_usd: orNull(Type.Number(), 'What it cost, in dollars.'),
  credits: orNull(Type.Number(), 'What was charged, in credits.'),
  latency_ms: orNull(Type.Number(), 'From the first byte of the request until its event was written.'),
  error: orNull(Type.String(), 'The code of the error response.'),
}

export const RequestObject = Type.Object(fields, { title: 'Request', examples: [example] })
export const requestExample = example as Static<typeof RequestObject>
const list = listOf('RequestList', RequestObject, pageExample(example))

export const RequestList = Type.Object(
  {
    ...list.properties,
    has_more: flag(
      'Whether there are more pages; get the next one with `after=last_id`. A search that few requests match stops after 500,000 events with what it found, which may be nothing, and continues on the next page.',
    ),
    total: Type.Optional(integer('How many requests match, with `include=total`.')),
    is_total_exact: Type.Optional(flag('False if there may be more than `total`.')),
  },
  { title: 'RequestList', examples: [pageExample(example)] },
)

export const RequestDetailQuery = Type.Object(
  {
    include: Type.Optional(
      Type.Enum(['content'], {
        description:
          '`content`: with the texts of the request and its response, if they are kept. Needs the permission `content:read`, and writes an event `audit.content.read` to the audit log.',
      }),
    ),
  },
  { additionalProperties: false },
)

const timelineSteps = ['accepted', 'admitted', 'request_checks', 'attempt', 'first_byte', 'answer'] as const

const TimelineStep = Type.Object(
  {
    step: Type.Enum([...timelineSteps], { description: 'What happened.' }),
    at_ms: number('When it began, from the first byte of the request.'),
    ms: number('How long it took.'),
    outcome: orNull(Type.String(), '`denied`, or the code of a failure; null if it succeeded.'),
    detail: orNull(
      Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
      'Further facts of the step. Of the response: `coverage`, how much of it was checked before any of it was sent, and `held_back_ms`, how long the part waited that waited longest for its checks.',
    ),
  },
  { title: 'RequestStep' },
)

const Outcome = Type.Object(
  {
    check: outcomeFields.check,
    is_deciding: flag('Whether this check determined the decision on the request.'),
    policy_id: orNull(Type.String(), 'The policy, or the `policy_id` of the configuration.'),
    name: orNull(Type.String(), 'The present name of the policy, or the name of the configuration.'),
    version: orNull(Type.Integer(), 'The version that was evaluated.'),
    decision: Type.Enum([...decisions], { description: 'What the check decided.' }),
    is_enforced: orNull(
      Type.Boolean(),
      'False: the check was monitoring, and its decision was recorded and not applied. Null: events of version 0.2 do not record it.',
    ),
    categories: Type.Array(Type.String(), {
      description: 'The categories that led to the decision; `prompt_injection` for the check of this name.',
    }),
    places: Type.Array(Type.String(), {
      description: 'Where prompt injections were found: `tool_results`, `documents`, `user_text`.',
    }),
    terms: Type.Array(Type.String(), { description: 'The denied terms of the configuration that were found.' }),
    has_no_allowed_term: flag('Whether it was denied because it contains none of the allowed terms.'),
    personal_data: Type.Array(
      Type.Object({ kind: text('The kind, such as `email`.'), count: integer('How many were found.') }),
      { description: 'The personal data that the configuration redacts.' },
    ),
    score_bp: orNull(Type.Integer(), 'The score, in basis points.'),
    threshold_bp: orNull(Type.Integer(), 'The score from which the check decides, in basis points.'),
    exception_id: orNull(Type.String(), 'The exception that let the request through; null without one.'),
  },
  { title: 'RequestOutcome' },
)

const Classifier = Type.Object(
  {
    id: text('The classifier.'),
    version: text('Its version.'),
    stage: Type.Enum(['linear', ...secondStages], {
      description:
        'What decided: `linear`, the first stage alone; `encoder`, both stages; `remote`, the moderation endpoint; the others, the first stage, because the encoder was late or failed, or the endpoint failed.',
    }),
  },
  { title: 'RequestClassifier' },
)

const ChainLink = Type.Object(
  { sequence: integer('Position in the chain.'), fingerprint: text('SHA-256 of the event.') },
  { title: 'ChainLink' },
)

const Proof = Type.Object(
  {
    sequence: integer('Position of the event in the chain.'),
    fingerprint: text('SHA-256 of the event, which includes the fingerprint of the previous one.'),
    previous: orNull(ChainLink, 'The event before.'),
    next: orNull(ChainLink, 'The event after.'),
    checkpoint: orNull(
      Type.Object(
        {
          sequence: integer('The last event that it covers.'),
          signed_at: unixTime('When it was signed.'),
          key_id: text('The key that signed it.'),
        },
        { title: 'RequestCheckpoint' },
      ),
      'The first signature that covers the event; null until the next one.',
    ),
  },
  { title: 'RequestProof', description: 'The place of its event in the hash chain of the audit log.' },
)

const Receipt = Type.Object(
  {
    input_tokens: integer('Tokens of the prompt.'),
    output_tokens: integer('Tokens of the response.'),
    cost_usd: orNull(Type.Number(), 'What it cost.'),
    credits: orNull(Type.Number(), 'What was charged.'),
    usage_source: orNull(Type.String(), 'Who counted the tokens.'),
  },
  { title: 'RequestReceipt' },
)

const detailExample = {
  ...example,
  address: '192.0.2.7',
  user_agent: 'openai-node/7.53.0',
  tags: { env: 'prod', team: 'red' },
  model_switch: null,
  finish_reasons: ['stop'],
  timeline: [
    { step: 'accepted', at_ms: 0, ms: 0.3, outcome: null, detail: null },
    { step: 'admitted', at_ms: 0.3, ms: 0.7, outcome: null, detail: null },
    { step: 'request_checks', at_ms: 1, ms: 1.6, outcome: null, detail: null },
    { step: 'attempt', at_ms: 2.6, ms: 653.3, outcome: null, detail: { upstream: 'openai' } },
    { step: 'first_byte', at_ms: 655.9, ms: 0, outcome: null, detail: null },
    {
      step: 'answer',
      at_ms: 655.9,
      ms: 1148.1,
      outcome: 'denied',
      detail: { coverage: 'held_back', held_back_ms: 31.4 },
    },
  ],
  direction: 'response',
  outcomes: [
    {
      check: 'policy',
      is_deciding: true,
      policy_id: 'pol_01k9z8y7x6w5v4t3s2r1q0p9n8',
      name: 'No payment data in answers',
      version: 7,
      decision: 'refuse',
      is_enforced: true,
      categories: [],
      places: [],
      terms: [],
      has_no_allowed_term: false,
      personal_data: [],
      score_bp: 10_000,
      threshold_bp: 5_000,
      exception_id: null,
    },
  ],
  classifier: { id: 'embedded+encoder', version: '9+1', stage: 'linear' },
  receipt: { input_tokens: 272, output_tokens: 46, cost_usd: 0.001813, credits: 2, usage_source: 'reported' },
  proof: {
    sequence: 42,
    fingerprint: '9f2c'.repeat(16),
    previous: { sequence: 41, fingerprint: '71ab'.repeat(16) },
    next: { sequence: 43, fingerprint: 'c41e'.repeat(16) },
    checkpoint: { sequence: 64, signed_at: 1_767_225_660, key_id: '1f3b9c0d5e7a2468' },
  },
  is_content_kept: true,
  content: null,
}

export const RequestDetailObject = Type.Object(
  {
    ...fields,
    address: orNull(Type.String(), 'The address of the caller.'),
    user_agent: orNull(Type.String(), 'The client of the caller.'),
    tags: Type.Record(Type.String(), Type.String(), { description: 'Its tags, of the names in `budgets.tags`.' }),
    model_switch: modelSwitch,
    finish_reasons: Type.Array(Type.String(), { description: 'Why the response ended.' }),
    timeline: Type.Array(TimelineStep, { description: 'The steps of the request, in order.' }),
    direction: orNull(
      Type.Enum(['request', 'response']),
      'What the decision is about; null if the request was rejected before the checks.',
    ),
    outcomes: Type.Array(Outcome, { description: 'The outcome of each check that ran, in their order.' }),
    classifier: orNull(Classifier, 'The classifier that scored the texts; null if none did.'),
    receipt: orNull(Receipt, 'What was charged; null if nothing was.'),
    proof: Proof,
    is_content_kept: flag('Whether the texts of the request and its response are kept.'),
    content: orNull(RequestContent, 'The texts, with `include=content`; null if they are not kept.'),
  },
  { title: 'RequestDetail', examples: [detailExample] },
)

export type RequestBody = Static<typeof RequestObject>
export type RequestDetailBody = Static<typeof RequestDetailObject>
