/** A workload that runs against every target. */
export type BenchCase = {
  readonly name: string
  readonly path: string
  /** The dialect of the upstream that serves it. */
  readonly upstream: 'chat' | 'messages'
  readonly body: object
  readonly unit: 'request' | 'chunk'
  /** The number of units that one request counts as. */
  readonly perRequest: number
  /** The case with the same response unstreamed, for the cost of a request without chunks. */
  readonly whole?: string
  /** Number of concurrent callers, if not the default. */
  readonly connections?: number
  /** A fixed request rate, to measure latency. Without it each caller sends its next request immediately (closed loop). */
  readonly perSecond?: number
  /** Also measured with each feature switched on in turn. */
  readonly hasLadder?: boolean
}

const text = 'Please tell me in some detail what a gatehouse was for in a medieval town. '.repeat(12)
const messages = [{ role: 'user', content: text }]
/** The test upstream reads its instructions from the prompt, because the prompt reaches it in every dialect. */
const instructed = (how: string) => [{ role: 'user', content: `${text} Answer ${how}.` }]

export const cases: readonly BenchCase[] = [
  {
    name: 'chat, whole',
    path: '/v1/chat/completions',
    upstream: 'chat',
    body: { model: 'chat', messages },
    unit: 'request',
    perRequest: 1,
    hasLadder: true,
  },
  {
    name: 'chat, streamed',
    path: '/v1/chat/completions',
    upstream: 'chat',
    body: { model: 'chat', stream: true, messages },
    unit: 'chunk',
    perRequest: 50,
    whole: 'chat, whole',
  },
  {
    name: 'chat, streamed at length',
    path: '/v1/chat/completions',
    upstream: 'chat',
    body: { model: 'chat', stream: true, messages: instructed('at length') },
    unit: 'chunk',
    perRequest: 500,
    whole: 'chat, whole',
  },
  {
    name: 'chat, streamed slowly: twenty chunks a second',
    path: '/v1/chat/completions',
    upstream: 'chat',
    body: { model: 'chat', stream: true, messages: instructed('slowly') },
    unit: 'chunk',
    perRequest: 50,
    whole: 'chat, whole',
    connections: 200,
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
    whole: 'messages, whole',
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
    whole: 'messages over a chat upstream, whole',
  },
  ...[200, 2000].map((perSecond): BenchCase => ({
    name: `chat, whole, ${perSecond} a second`,
    path: '/v1/chat/completions',
    upstream: 'chat',
    body: { model: 'chat', messages },
    unit: 'request',
    perRequest: 1,
    perSecond,
  })),
]
