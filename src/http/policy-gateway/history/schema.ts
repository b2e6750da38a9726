import Type from 'typebox'
import { texts } from '../../described.ts'
import { eventKinds } from '../../../domain/audit/event/kinds.ts'
import { decisions } from '../../../domain/audit/event/verdict.ts'
import { listOf, listQuery, pageExample } from '../../resources/list.ts'
import { idText, isoTime, orNull } from '../../resources/fields.ts'

const gatewayKinds = eventKinds.filter((kind) => kind.startsWith('gateway.'))

const text = (description: string) => orNull(Type.String(), description)

export const HistoryQuery = listQuery({
  decision: Type.Optional(Type.Enum([...decisions], { description: 'Only events with this decision.' })),
  policy_id: Type.Optional(idText('Only decisions of this policy.', 'pol_01k9z8y7x6w5v4t3s2r1q0p9n8')),
  user_id: Type.Optional(idText('Only requests of this end user.', 'ada')),
  request_id: Type.Optional(idText('Only this request.', 'req_01k9z8y7x6w5v4t3s2r1q0p9n8')),
  project_id: Type.Optional(
    idText('Only this project. An API key or a token reads its own project only.', 'proj_01k9z8y7x6w5v4t3s2r1q0p9n8'),
  ),
  kind: Type.Optional(Type.Enum(gatewayKinds, { description: 'Only events of this kind.' })),
  from: Type.Optional(isoTime('Only events at this time or later, ISO 8601.')),
  to: Type.Optional(isoTime('Only events before this time, ISO 8601.')),
})

const HistoryObject = Type.Object(
  {
    id: Type.String({ description: 'The id of the event.' }),
    object: Type.Literal('policy_gateway.event'),
    kind: Type.String({ description: '`gateway.request.decided`, `gateway.simulation.run` and the like.' }),
    created_at: isoTime('Time of the event.'),
    request_id: text('The request.'),
    project_id: text('The project of the request.'),
    user_id: text('The end user named in the request.'),
    model: text('The requested model.'),
    decision: text('The decision.'),
    enforced: orNull(Type.Boolean(), 'False if the decision was only recorded.'),
    reason_code: text('The reason code of the decision.'),
    rollout_mode: text('The rollout mode of the policy.'),
    policy_id: text('The policy that decided.'),
    policy_version: text('The version of that policy.'),
    triggered_categories: texts('The moderation categories that matched.'),
    input_tokens: orNull(Type.Integer(), 'Input tokens of the request.'),
    output_tokens: orNull(Type.Integer(), 'Output tokens of the answer.'),
    error: text('The error code.'),
  },
  { title: 'DecisionEvent' },
)

const example = {
  id: 'evt_01k9z8y7x6w5v4t3s2r1q0p9n8',
  object: 'policy_gateway.event',
  kind: 'gateway.request.decided',
  created_at: '2026-01-01T00:00:00.000Z',
  request_id: 'req_01k9z8y7x6w5v4t3s2r1q0p9n8',
  project_id: 'proj_01k9z8y7x6w5v4t3s2r1q0p9n8',
  user_id: 'ada',
  model: 'gatehouse-echo',
  decision: 'allow',
  enforced: true,
  reason_code: null,
  rollout_mode: null,
  policy_id: null,
  policy_version: null,
  triggered_categories: [],
  input_tokens: 12,
  output_tokens: 34,
  error: null,
}

export const HistoryList = listOf('DecisionEventList', HistoryObject, pageExample(example))
