import { each, fields, type AnswerShape } from '../decoding/out-of-band.ts'

/** The response fields of chat completions. A whole response is one chunk with `message` instead of `delta`. */
const call = fields({
  id: 'label',
  type: 'label',
  function: fields({ name: 'content', arguments: 'content' }),
  custom: fields({ name: 'content', input: 'content' }),
})

const message = fields({
  role: 'label',
  content: 'content',
  reasoning_content: 'content',
  reasoning: 'content',
  refusal: 'content',
  tool_calls: each(call),
  audio: fields({ id: 'label', transcript: 'delta' }),
  reasoning_details: each(fields({ type: 'label', id: 'label', format: 'label', text: 'content', summary: 'content' })),
})

const choice = fields({
  index: 'label',
  delta: message,
  message: message,
  finish_reason: 'label',
  native_finish_reason: 'label',
  stop_reason: 'stop',
  matched_stop: 'stop',
  logprobs: fields({ content: 'tokens', refusal: 'tokens' }),
})

const chunk = fields({
  id: 'label',
  object: 'label',
  created: 'label',
  model: 'label',
  system_fingerprint: 'label',
  service_tier: 'label',
  obfuscation: 'padding',
  choices: each(choice),
})

export const chatShape: AnswerShape = { document: chunk, event: chunk }
