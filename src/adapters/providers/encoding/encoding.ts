import { Buffer } from 'node:buffer'
import type { ProviderCall } from '../../../domain/inference/provider.ts'
import type { InferenceRequest, ContentPart, ReasoningSignature, Source } from '../../../domain/inference/request.ts'
import { unsupported } from './lossy-conversions.ts'
import type { JsonRecord } from '../json-values.ts'
import type { SignedReasoning } from '../reasoning-signature.ts'
import { shortHash } from './tool-ids.ts'
import type { ToolNames } from './tool-names.ts'

/** What a translator of requests needs besides the request. */
export type EncodeContext = {
  readonly call: ProviderCall
  readonly toolNames: ToolNames
  /** What a proof says to this upstream and model; undefined where it says nothing. */
  readonly openProof: (proof: ReasoningSignature) => SignedReasoning | undefined
}

/** A request in the upstream's words. */
export type EncodedRequest = {
  readonly body: JsonRecord
  /** Headers of the dialect. */
  readonly headers?: Readonly<Record<string, string>>
  /** Stop strings that the upstream cannot be told and that we look for ourselves. */
  readonly stops: readonly string[]
}

/** The caller's own body for an upstream of the same dialect: all of it, under the upstream's name for the model. */
export const sameDialectBody = ({ request, model }: ProviderCall): JsonRecord => ({
  ...withoutOurs(request.original.body),
  model,
})

const withoutOurs = ({ flagged_categories: _, ...body }: JsonRecord): JsonRecord => body

/** The caller's limit, or ours where it named none or a higher one. */
export const boundedBy = (limit: number, asked: unknown): number =>
  typeof asked === 'number' ? Math.min(asked, limit) : limit

/** The caller's own name for the conversation. */
const contentParam = ({ original }: InferenceRequest): string =>
  original.dialect === 'responses' ? 'input' : 'messages'

/** Content that this upstream cannot take; without it the answer would be about something else. */
export const unsupportedContent = (request: InferenceRequest, what: string) =>
  unsupported(contentParam(request), `This model’s upstream does not support ${what}.`)

/** A block of another dialect: what the caller said must arrive, what a model once answered may get lost. */
export function withoutForeignBlock(
  part: Extract<ContentPart, { type: 'opaque' }>,
  role: string,
  { call }: EncodeContext,
): void {
  const raw = part.raw
  const type = typeof raw === 'object' && raw !== null && 'type' in raw ? String(raw.type) : 'unknown'
  if (role !== 'assistant') throw unsupportedContent(call.request, `content of type \`${type}\``)
  call.onDropped(type)
}

/** Vendors take at most 64 characters here; agents send whole JSON documents. */
export const shortUser = (user: string): string => (user.length <= 64 ? user : shortHash(user))

export const dataUrl = ({ mediaType, data }: Extract<Source, { kind: 'base64' }>): string =>
  `data:${mediaType};base64,${data}`

/** The text of a file that is nothing but text, whichever way it was sent. */
export function plainText(source: Source): string | undefined {
  if (source.kind === 'text') return source.text
  if (source.kind !== 'base64' || !source.mediaType.startsWith('text/')) return undefined
  return Buffer.from(source.data, 'base64').toString('utf8')
}

/** File ids are known only where the file was uploaded; chat and responses are one vendor's. */
export const knowsFileIds = ({ original }: InferenceRequest, isOpenAi: boolean): boolean =>
  isOpenAi === (original.dialect !== 'messages')
