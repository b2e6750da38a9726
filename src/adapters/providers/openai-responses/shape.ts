import { each, fields, type AnswerShape, type FieldShape } from '../decoding/out-of-band.ts'

/** What our events tell of in an answer of the Responses format, piece by piece and once more as a whole. */
const part = fields({ type: 'label', text: 'told', refusal: 'told', logprobs: 'tokens' })

const common = { id: 'label', type: 'label', status: 'label' } as const
const items: ReadonlyMap<unknown, FieldShape> = new Map<unknown, FieldShape>([
  ['message', fields({ ...common, role: 'label', phase: 'label', content: each(part) })],
  ['reasoning', fields({ ...common, summary: each(part), content: each(part) })],
  ['function_call', fields({ ...common, call_id: 'label', name: 'told', namespace: 'label', arguments: 'told' })],
  ['custom_tool_call', fields({ ...common, call_id: 'label', name: 'told', namespace: 'label', input: 'told' })],
])
const item: FieldShape = ({ type }) => items.get(type)

/** The vendor repeats these from the request, with its own defaults for what was not said. */
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
  ...Object.fromEntries(echoed.map((name): [string, FieldShape] => [name, 'echo'])),
})

const event = fields({
  type: 'label',
  sequence_number: 'label',
  output_index: 'label',
  content_index: 'label',
  summary_index: 'label',
  item_id: 'label',
  delta: 'told',
  text: 'told',
  refusal: 'told',
  arguments: 'told',
  input: 'told',
  name: 'told',
  logprobs: 'tokens',
  obfuscation: 'filler',
  part,
  item,
  response,
})

export const responsesShape: AnswerShape = { document: response, event }
