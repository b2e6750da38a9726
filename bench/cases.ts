/** What is asked of every target. `perRequest` is how many units one request stands for. */
export type BenchCase = {
  readonly name: string
  readonly path: string
  /** The dialect of the upstream that serves it. */
  readonly upstream: 'chat' | 'messages'
  readonly body: object
  readonly unit: 'request' | 'chunk'
  readonly perRequest: number
}

const text = 'Please tell me in some detail what a gatehouse was for in a medieval town. '.repeat(12)
const messages = [{ role: 'user', content: text }]

export const cases: readonly BenchCase[] = [
  {
    name: 'chat, whole',
    path: '/v1/chat/completions',
    upstream: 'chat',
    body: { model: 'chat', messages },
    unit: 'request',
    perRequest: 1,
  },
  {
    name: 'chat, streamed',
    path: '/v1/chat/completions',
    upstream: 'chat',
    body: { model: 'chat', stream: true, messages },
    unit: 'chunk',
    perRequest: 50,
  },
  {
    name: 'messages, whole',
    path: '/v1/messages',
    upstream: 'messages',
    body: { model: 'messages', max_tokens: 500, messages },
    unit: 'request',
    perRequest: 1,
  },
  {
    name: 'messages, streamed',
    path: '/v1/messages',
    upstream: 'messages',
    body: { model: 'messages', max_tokens: 500, stream: true, messages },
    unit: 'chunk',
    perRequest: 50,
  },
  {
    name: 'messages over a chat upstream, whole',
    path: '/v1/messages',
    upstream: 'chat',
    body: { model: 'chat', max_tokens: 500, messages },
    unit: 'request',
    perRequest: 1,
  },
  {
    name: 'messages over a chat upstream, streamed',
    path: '/v1/messages',
    upstream: 'chat',
    body: { model: 'chat', max_tokens: 500, stream: true, messages },
    unit: 'chunk',
    perRequest: 50,
  },
]
