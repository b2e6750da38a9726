import { createTextWriter } from './text.ts'

/** The requests of a case, and how the upstream answers them. */
export type Workload = {
  readonly dialect: 'chat' | 'messages'
  /** The model that is requested. Its name says which upstream serves it. */
  readonly model: 'chat' | 'messages'
  /** Fresh: new words in the last message and in the answer. Repeated: the same bytes in each request and each answer. */
  readonly text: 'fresh' | 'repeated'
  /** The messages before the last one, an even number. They are those of one of a few chats, and do not change. */
  readonly olderTurns: number
  /** The length of each older message. */
  readonly turnCharacters: number
  /** The length of the last message. */
  readonly lastCharacters: number
  readonly stream?: 'burst' | 'paced'
}

/** The number of chunks of a streamed answer; each is one word. */
export const chunksPerAnswer = 100
export const answerCharacters = 640
export const chunksPerSecond = 20

/** A request whose bytes are written to a socket as Latin-1. */
export type BenchRequest = { readonly number: number; readonly bytes: string }

const chatCount = 16

export type RequestParts = {
  readonly workload: Workload
  /** Header lines, each with its line end. Requests use them in turn. */
  readonly headers: readonly string[]
  readonly seed: number
}

/** Makes the requests of a workload. All that does not change is made once, so that the load generator stays cheap. */
export function createRequests({ workload, headers, seed }: RequestParts): () => BenchRequest {
  const { dialect, text, lastCharacters } = workload
  const write = createTextWriter(seed)
  const path = dialect === 'chat' ? '/v1/chat/completions' : '/v1/messages'
  const heads = headers.map(
    (lines) => `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n${lines}content-length: `,
  )
  const chats = Array.from({ length: text === 'fresh' ? chatCount : 1 }, () => beginningOf(workload, write))
  const same = write(lastCharacters)
  let number = 0
  return () => {
    number++
    const words = text === 'fresh' ? write(lastCharacters) : same
    const body = `${chats[number % chats.length]}${words} ${instruction(workload, number)}"}]}`
    return { number, bytes: `${heads[number % heads.length]}${body.length}\r\n\r\n${body}` }
  }
}

/** Everything before the text of the last message. */
function beginningOf(
  { model, dialect, stream, olderTurns, turnCharacters }: Workload,
  write: (size: number) => string,
): string {
  const older = Array.from(
    { length: olderTurns },
    (_, at) => `{"role":"${at % 2 === 0 ? 'user' : 'assistant'}","content":"${write(turnCharacters)}"},`,
  ).join('')
  const usage = dialect === 'chat' && stream ? ',"stream_options":{"include_usage":true}' : ''
  const streaming = stream ? `,"stream":true${usage}` : ''
  return `{"model":"${model}","max_tokens":500${streaming},"messages":[${older}{"role":"user","content":"`
}

/** The upstream reads in the prompt how to answer, because the prompt reaches it in every dialect and through every gateway. */
function instruction({ text, stream }: Workload, number: number): string {
  const words = text === 'fresh' ? 'new words' : 'the same words'
  const how = stream === undefined ? '' : stream === 'burst' ? ' all at once' : ' one by one'
  return `Answer with ${words}${how}.${text === 'fresh' ? ` Request ${number}.` : ''}`
}

export type Instruction = Pick<Workload, 'text' | 'stream'> & { readonly number: number }

const pattern = /^Answer with (new|the same) words( all at once| one by one)?\.(?: Request (\d+)\.)?/

export function readInstruction(body: string): Instruction {
  const found = pattern.exec(body.slice(body.lastIndexOf('Answer with ')).slice(0, 80))
  const text = found?.[1] === 'new' ? 'fresh' : 'repeated'
  const number = Number(found?.[3] ?? 0)
  if (found?.[2] === undefined) return { text, number }
  return { text, number, stream: found[2] === ' all at once' ? 'burst' : 'paced' }
}
