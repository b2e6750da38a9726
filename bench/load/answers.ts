/** The upstream's answers in one dialect. Texts need no JSON escapes. */
export type AnswerFormat = {
  readonly whole: (text: string) => string
  /** The events of a stream before the first chunk. */
  readonly beginning: string
  readonly chunk: (text: string) => string
  readonly end: (chunks: number) => string
}

/** Cuts the JSON at the text, so that an answer is made by joining three strings. */
function around(value: object): (text: string) => string {
  const [before = '', after = ''] = JSON.stringify(value).split('TEXT')
  return (text) => before + text + after
}

const inputTokens = 250
const outputTokens = 120

export const chatFormat: AnswerFormat = (() => {
  const of = (object: string, rest: object) => ({ id: 'chatcmpl-1', object, created: 1, model: 'm', ...rest })
  const usage = (completion: number) => ({
    prompt_tokens: inputTokens,
    completion_tokens: completion,
    total_tokens: inputTokens + completion,
  })
  const data = (delta: object, finish: string | null) =>
    of('chat.completion.chunk', { choices: [{ index: 0, delta, finish_reason: finish }] })
  const frame = (value: object): string => `data: ${JSON.stringify(value)}\n\n`
  const chunk = around(data({ content: 'TEXT' }, null))
  const message = { role: 'assistant', content: 'TEXT', refusal: null }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]
  return {
    whole: around(of('chat.completion', { choices, usage: usage(outputTokens) })),
    beginning: frame(data({ role: 'assistant', content: '' }, null)),
    chunk: (text) => `data: ${chunk(text)}\n\n`,
    end: (chunks) =>
      `${frame(data({}, 'stop'))}${frame(of('chat.completion.chunk', { choices: [], usage: usage(chunks) }))}data: [DONE]\n\n`,
  }
})()

export const messagesFormat: AnswerFormat = (() => {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm' }
  const usage = (output: number) => ({ input_tokens: inputTokens, output_tokens: output })
  const stopped = { stop_reason: 'end_turn', stop_sequence: null }
  const event = (type: string, data: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`
  const delta = around({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'TEXT' } })
  const started = { ...message, content: [], stop_reason: null, stop_sequence: null, usage: usage(0) }
  return {
    whole: around({ ...message, content: [{ type: 'text', text: 'TEXT' }], ...stopped, usage: usage(outputTokens) }),
    beginning:
      event('message_start', { message: started }) +
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    chunk: (text) => `event: content_block_delta\ndata: ${delta(text)}\n\n`,
    end: (chunks) =>
      event('content_block_stop', { index: 0 }) +
      event('message_delta', { delta: stopped, usage: { output_tokens: chunks } }) +
      event('message_stop', {}),
  }
})()

export const wholeResponse = (json: string): string =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${json.length}\r\n\r\n${json}`
