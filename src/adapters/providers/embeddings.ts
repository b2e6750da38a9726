import { estimateTokensOfBytes } from '../../domain/inference/count.ts'
import type { EmbeddingsRequest, Vector } from '../../domain/inference/embeddings.ts'
import type { Chunk } from '../../domain/inference/events.ts'
import type { Provider, ProviderCall } from '../../domain/inference/provider.ts'
import { completeUsage } from './decoding/usage.ts'
import { upstreamFailed } from './failures.ts'
import { asCount, asRecord, asRecords, isNonEmptyText, numberOf, type JsonRecord } from './json-values.ts'
import { throwWithoutSecrets } from './mask-secrets.ts'
import type { AnswerMemoryBudget } from './network/answer-memory-budget.ts'
import { createCaller, type UpstreamCallerParts, type UpstreamCallerSettings } from './network/call.ts'
import { spanHeaders } from './span-headers.ts'

type EmbedSettings = Omit<UpstreamCallerSettings, 'url'> & {
  readonly embeddingsUrl?: URL | undefined
  readonly headers: () => Readonly<Record<string, string>>
  readonly sendsSpan?: boolean | undefined
}
type EmbedParts = UpstreamCallerParts & {
  readonly answerMemory: AnswerMemoryBudget
  readonly secrets: () => readonly string[]
}

type Embedder = Required<Pick<Provider, 'embed' | 'inFlight'>>

/** The vectors of a full request are longer than any text: 2,048 of 1,536 numbers are 16 MiB in base64. */
const sizeFactor = 4

/** Calls an embeddings endpoint in OpenAI's format. Undefined for an upstream that has none. */
export function createEmbed(settings: EmbedSettings, parts: EmbedParts): Embedder | undefined {
  const { embeddingsUrl: url, maxAnswerBytes } = settings
  if (url === undefined) return undefined
  const post = createCaller({ ...settings, url, maxAnswerBytes: maxAnswerBytes * sizeFactor }, parts)
  return { embed, inFlight: post.inFlight }

  async function* embed(call: ProviderCall<EmbeddingsRequest>): AsyncGenerator<Chunk, void> {
    const lease = parts.answerMemory.open()
    const outgoing = {
      headers: {
        accept: 'application/json',
        'x-client-request-id': call.requestId,
        ...(settings.sendsSpan && spanHeaders(call.span)),
        ...settings.headers(),
      },
      body: JSON.stringify(encodeEmbeddings(call)),
      wantsStream: false,
      mayQueue: call.mayQueue,
    }
    const response = await post(outgoing, call.signal, lease)
      .catch(throwWithoutSecrets(parts))
      .finally(() => lease.release())
    if (response.kind !== 'document') throw upstreamFailed('The model’s upstream did not return embeddings.')
    yield decodeEmbeddings(response.body, call)
  }
}

/**
 * Always in base64, as the official SDKs ask for: it takes half the bytes, and a vector is one JSON value instead of
 * thousands. A server that does not know it sends numbers.
 */
const encodeEmbeddings = ({ request, model }: ProviderCall<EmbeddingsRequest>) => ({
  model,
  input: request.inputs,
  encoding_format: 'base64',
  ...(request.dimensions !== undefined && { dimensions: request.dimensions }),
  ...(request.user !== undefined && { user: request.user }),
})

function decodeEmbeddings(body: JsonRecord, { request, model }: ProviderCall<EmbeddingsRequest>): Chunk {
  const { inputs } = request
  const vectors = vectorsIn(body, inputs.length)
  const reported = { inputTokens: numberOf(asRecord(body['usage'])?.['prompt_tokens']), outputTokens: 0 }
  const usage = completeUsage(reported, {
    input: () => inputs.reduce((sum, text) => sum + estimateTokensOfBytes(Buffer.byteLength(text)), 0),
    output: () => 0,
  })
  return {
    events: [
      { type: 'start', model: isNonEmptyText(body['model']) ? body['model'] : model },
      { type: 'end', stopReason: 'end', usage },
    ],
    vectors,
  }
}

/** In the order of the inputs. A missing vector would give the ones after it to the wrong inputs. */
function vectorsIn(body: JsonRecord, count: number): readonly Vector[] {
  const vectors: (Vector | undefined)[] = Array.from({ length: count })
  asRecords(body['data']).forEach(({ index, embedding }, at) => {
    const place = asCount(index) ?? at
    if (place < count) vectors[place] = asVector(embedding)
  })
  const whole = vectors.filter((vector) => vector !== undefined)
  if (whole.length === count) return whole
  throw upstreamFailed(`The model’s upstream did not return an embedding for each of ${count} inputs.`)
}

const bytesPerFloat = 4

function asVector(value: unknown): Vector | undefined {
  if (typeof value === 'string') {
    const bytes = Buffer.byteLength(value, 'base64')
    return bytes > 0 && bytes % bytesPerFloat === 0 ? value : undefined
  }
  const isVector = Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'number')
  return isVector ? value : undefined
}
