import { Buffer } from 'node:buffer'
import type { ProviderCall } from '../../../domain/inference/provider.ts'
import type { InferenceRequest, ContentPart, ReasoningSignature, Source } from '../../../domain/inference/request.ts'
import { unsupported } from './lossy-conversions.ts'
import type { JsonRecord } from '../json-values.ts'
import type { SignedReasoning } from '../reasoning-signature.ts'
import { shortHash, type ToolNames } from './tool-names.ts'

/** The input of a request encoder. */
export type EncodeContext = {
  readonly call: ProviderCall
  readonly toolNames: ToolNames
  /** Returns the signed thinking, or undefined if another upstream or model signed it. */
  readonly unwrapSignature: (signature: ReasoningSignature) => SignedReasoning | undefined
}

/** A request in the vendor's format. */
export type EncodedRequest = {
  readonly body: JsonRecord
  /** Appended to the URL of the endpoint, for a vendor whose URL names the model. It may have a query. */
  readonly path?: string
  /** Whether the response is a stream. Default: the field `stream` of the body. */
  readonly wantsStream?: boolean
  /** Headers that belong to the format. */
  readonly headers?: Readonly<Record<string, string>>
  /** Stop strings that the upstream does not support. The gateway scans the response for them instead. */
  readonly stops: readonly string[]
}

/** The caller's raw body for an upstream of the same format, with the upstream's model name. */
export const passthroughBody = ({ request, model }: ProviderCall): JsonRecord => ({
  ...withoutGatewayFields(request.raw.body),
  model,
})

const withoutGatewayFields = ({ flagged_categories: _, ...body }: JsonRecord): JsonRecord => body

/** The output limit in the field of a format that does not require one. Empty if nobody set a limit. */
export const optionalLimit = (
  { outputLimit }: ProviderCall,
  field: string,
  { requested, least = 1 }: { requested?: unknown; least?: number } = {},
): Readonly<Record<string, number>> => {
  if (outputLimit.isExplicit) return { [field]: Math.max(cappedAt(outputLimit.tokens, requested), least) }
  return typeof requested === 'number' ? { [field]: requested } : {}
}

/** The requested value, at most `limit`. Returns `limit` if nothing was requested. */
export const cappedAt = (limit: number, requested: unknown): number =>
  typeof requested === 'number' ? Math.min(requested, limit) : limit

/** The field that holds the conversation in the caller's format. */
const contentParam = ({ raw }: InferenceRequest): string => (raw.dialect === 'responses' ? 'input' : 'messages')

/** An error for content that this upstream cannot receive. Dropping it would change the meaning of the request. */
export const unsupportedContent = (request: InferenceRequest, content: string) =>
  unsupported(contentParam(request), `This model’s upstream does not support ${content}.`)

/** Drops a block of another format. Throws if the caller wrote it, because only earlier model output may be dropped. */
export function dropForeignBlock(
  part: Extract<ContentPart, { type: 'opaque' }>,
  role: string,
  { call }: EncodeContext,
): void {
  const raw = part.raw
  const type = typeof raw === 'object' && raw !== null && 'type' in raw ? String(raw.type) : 'unknown'
  if (role !== 'assistant') throw unsupportedContent(call.request, `content of type \`${type}\``)
  call.onDropped(type)
}

/** Vendors accept at most 64 characters in `user`. Some agents send a whole JSON document, which is hashed. */
export const shortUser = (user: string): string => (user.length <= 64 ? user : shortHash(user))

export const dataUrl = ({ mediaType, data }: Extract<Source, { kind: 'base64' }>): string =>
  `data:${mediaType};base64,${data}`

/** The text of a plain text file, whether it was sent as text or base64. Undefined for other files. */
export function plainText(source: Source): string | undefined {
  if (source.kind === 'text') return source.text
  if (source.kind !== 'base64' || !source.mediaType.startsWith('text/')) return undefined
  return Buffer.from(source.data, 'base64').toString('utf8')
}

/** A file id is valid only at the vendor of the caller's format. Chat and Responses belong to the same vendor. */
export const knowsFileIds = ({ raw }: InferenceRequest, isOpenAi: boolean): boolean =>
  isOpenAi === (raw.dialect !== 'messages')

/** Joins the system text of several parts, with blank lines between them. */
export const systemText = (parts: readonly ContentPart[]): string =>
  parts.flatMap((part) => (part.type === 'text' && isPromptText(part.text) ? [part.text] : [])).join('\n\n')

/**
 * False for empty text and for the billing line that some agents put into the system text. That line changes with every
 * request, so it would defeat the prefix cache of every upstream except Anthropic, which reads it.
 */
export const isPromptText = (text: string): boolean => text !== '' && !text.startsWith('x-anthropic-billing-header:')
