import Type, { type TObjectOptions } from 'typebox'
import { callerFormats } from '../../../domain/inference/formats.ts'
import { idText } from '../../resources/fields.ts'

/** Its fields depend on the caller's format. */
const anyObject = (options: TObjectOptions) => Type.Object({}, { additionalProperties: true, ...options })

const body = {
  model: 'gatehouse-echo',
  max_tokens: 64,
  messages: [{ role: 'user', content: 'Hello' }],
}

export const PlaygroundBody = Type.Object(
  {
    project_id: idText('The project that the request belongs to.', 'proj_01k9z8y7x6w5v4t3s2r1q0p9n0'),
    dialect: Type.Enum([...callerFormats], {
      description:
        'The endpoint whose format `body` has: `POST /v1/messages`, `POST /v1/responses` or `POST /v1/chat/completions`.',
    }),
    body: anyObject({ description: 'The body of the request, as this endpoint takes it.' }),
  },
  {
    title: 'PlaygroundRequest',
    additionalProperties: false,
    examples: [{ project_id: 'proj_01k9z8y7x6w5v4t3s2r1q0p9n0', dialect: 'messages', body }],
  },
)

export const PlaygroundAnswer = anyObject({
  title: 'PlaygroundAnswer',
  description: 'The response of the endpoint that `dialect` names.',
  examples: [
    {
      id: 'msg_01h455vb4pex5vsknk084sn02q',
      type: 'message',
      role: 'assistant',
      model: 'gatehouse-echo',
      content: [{ type: 'text', text: 'Hello' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 9, output_tokens: 1 },
      remaining_credits: 9999,
      estimated_credits_used: 0,
      estimated_cost_usd: 0,
    },
  ],
})

export const PlaygroundEvent = anyObject({
  title: 'PlaygroundEvent',
  description: 'An event of the endpoint that `dialect` names.',
})
