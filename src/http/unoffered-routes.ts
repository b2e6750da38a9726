/** Endpoints of the vendors that Gatehouse does not offer. A client that calls one gets a sentence about it, not only 404. */
type Unoffered = {
  readonly pattern: RegExp
  readonly what: string
  /** What to do instead. */
  readonly instead?: string
}

const at = (path: string, what: string, instead?: string): Unoffered => ({
  pattern: new RegExp(`^/v1/${path}(/|$)`),
  what,
  ...(instead !== undefined && { instead }),
})

const inline = 'Send the content in the request itself.'
const oneByOne = 'Send the requests one by one.'

const unoffered: readonly Unoffered[] = [
  at('responses/compact', 'the compaction of conversations', 'Send a shorter input.'),
  at('responses/[^/]+/cancel', 'the cancellation of responses', 'Close the connection instead.'),
  at('messages/batches', 'message batches', oneByOne),
  at('batches', 'batches', oneByOne),
  at('files', 'the storage of files', inline),
  at('uploads', 'the upload of files', inline),
  at('conversations', 'the storage of conversations', 'Use previous_response_id, or send the earlier items in input.'),
  at('embeddings', 'embeddings'),
  at('rerank', 'reranking'),
  at('images', 'the generation of images'),
  at('videos', 'the generation of videos'),
  at('audio', 'speech and transcription'),
  at('realtime', 'realtime sessions', 'Use /v1/responses with stream: true.'),
  at('assistants', 'assistants', 'Use /v1/responses.'),
  at('threads', 'threads', 'Use /v1/responses with previous_response_id.'),
  at('vector_stores', 'vector stores', inline),
  at('fine_tuning', 'fine-tuning'),
  at('evals', 'evaluations'),
  at('containers', 'containers'),
  at('skills', 'skills'),
  at('agents', 'managed agents'),
  at('sessions', 'managed agents'),
  at('environments', 'managed agents'),
  at('completions', 'the older completions', 'Use /v1/chat/completions.'),
  at('complete', 'the older completions', 'Use /v1/messages.'),
]

/** Undefined for a path that no vendor has, or that Gatehouse serves. */
export function describeUnoffered(path: string): string | undefined {
  const found = unoffered.find(({ pattern }) => pattern.test(path))
  if (found === undefined) return undefined
  const { what, instead } = found
  return instead === undefined ? `Gatehouse does not offer ${what}.` : `Gatehouse does not offer ${what}. ${instead}`
}

/** Where a family begins whose error format a client of the vendor can read. Anthropic's SDKs send their version with every request. */
export const formatPathOf = (path: string, headers: Readonly<Record<string, unknown>>): string =>
  headers['anthropic-version'] !== undefined || /^\/v1\/(skills|complete|agents|sessions|environments)(\/|$)/.test(path)
    ? '/v1/messages'
    : '/v1/chat'
