import { each, fields, type AnswerShape, type FieldShape } from '../decoding/out-of-band.ts'

/** The response fields of the Messages format, by block type. */
const blocks: ReadonlyMap<unknown, FieldShape> = new Map<unknown, FieldShape>([
  ['text', fields({ type: 'label', text: 'content' })],
  ['thinking', fields({ type: 'label', thinking: 'content' })],
  ['redacted_thinking', fields({ type: 'label' })],
  [
    'tool_use',
    fields({ type: 'label', id: 'label', name: 'content', input: 'content', caller: fields({ type: 'label' }) }),
  ],
])

const usage = fields({ service_tier: 'label', inference_geo: 'label', speed: 'label' })
const ending = { stop_reason: 'label', stop_sequence: 'stop' } as const
const message = { id: 'label', type: 'label', role: 'label', model: 'label', ...ending, usage } as const

const event = fields({
  type: 'label',
  index: 'label',
  message: fields(message),
  content_block: ({ type }) => blocks.get(type) ?? 'deferred',
  delta: fields({ type: 'label', text: 'content', thinking: 'content', partial_json: 'content', ...ending }),
  usage,
})

export const messagesShape: AnswerShape = {
  event,
  document: fields({ ...message, content: each(({ type }) => blocks.get(type)) }),
}
