import { each, fields, type AnswerShape } from '../decoding/out-of-band.ts'

/** What our events tell of in an answer of chat completions; a whole answer is one chunk that says `message` for `delta`. */
const call = fields({
  id: 'label',
  type: 'label',
  function: fields({ name: 'told', arguments: 'told' }),
  custom: fields({ name: 'told', input: 'told' }),
})

const said = fields({
  role: 'label',
  content: 'told',
  reasoning_content: 'told',
  reasoning: 'told',
  refusal: 'told',
  tool_calls: each(call),
  audio: fields({ id: 'label', transcript: 'piece' }),
  reasoning_details: each(fields({ type: 'label', id: 'label', format: 'label', text: 'told', summary: 'told' })),
})

const choice = fields({
  index: 'label',
  delta: said,
  message: said,
  finish_reason: 'label',
  native_finish_reason: 'label',
  stop_reason: 'stop',
  logprobs: fields({ content: 'tokens', refusal: 'tokens' }),
})

const chunk = fields({
  id: 'label',
  object: 'label',
  created: 'label',
  model: 'label',
  system_fingerprint: 'label',
  service_tier: 'label',
  obfuscation: 'filler',
  choices: each(choice),
})

export const chatShape: AnswerShape = { document: chunk, event: chunk }
