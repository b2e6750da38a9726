import { each, fields, type AnswerShape, type FieldShape } from '../decoding/out-of-band.ts'

/** The response fields of the Responses format. Text arrives as deltas and again as a whole. */
const part = fields({ type: 'label', text: 'content', refusal: 'content', logprobs: 'tokens' })

const common = { id: 'label', type: 'label', status: 'label' } as const
const items: ReadonlyMap<unknown, FieldShape> = new Map<unknown, FieldShape>([
  ['message', fields({ ...common, role: 'label', phase: 'label', content: each(part) })],
  ['reasoning', fields({ ...common, summary: each(part), content: each(part) })],
  ['function_call', fields({ ...common, call_id: 'label', name: 'content', namespace: 'label', arguments: 'content' })],
  ['custom_tool_call', fields({ ...common, call_id: 'label', name: 'content', namespace: 'label', input: 'content' })],
])
const item: FieldShape = ({ type }) => items.get(type)

/** The vendor repeats these fields from the request, with its defaults for missing ones. */
const echoed = [
  'instructions',
  'input',
  'metadata',
  'reasoning',
  'text',
  'tool_choice',
  'tools',
  'truncation',
  'user',
].concat(['prompt_cache_key', 'safety_identifier', 'prompt_cache_retention', 'background', 'include', 'moderation'])

const response = fields({
  id: 'label',
  object: 'label',
  status: 'label',
  model: 'label',
  service_tier: 'label',
  previous_response_id: 'label',
  incomplete_details: fields({ reason: 'label' }),
  output: each(item),
  ...Object.fromEntries(echoed.map((name): [string, FieldShape] => [name, 'request-echo'])),
})

const event = fields({
  type: 'label',
  sequence_number: 'label',
  output_index: 'label',
  content_index: 'label',
  summary_index: 'label',
  item_id: 'label',
  delta: 'content',
  text: 'content',
  refusal: 'content',
  arguments: 'content',
  input: 'content',
  name: 'content',
  logprobs: 'tokens',
  obfuscation: 'padding',
  part,
  item,
  response,
})

export const responsesShape: AnswerShape = { document: response, event }
