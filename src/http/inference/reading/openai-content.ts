import Type from 'typebox'
import { text } from '../../described.ts'
import { isRecord } from '../../../base/record.ts'
import type { CacheMarker, Source } from '../../../domain/inference/request.ts'
import { Nullish } from './request-fields.ts'

const dataUrl = /^data:([^;,]+)(?:;[^;,]+)*;base64,/

/** The OpenAI dialects send files as data URLs: `data:image/png;base64,…`. */
export function sourceOfUrl(url: string): Source {
  // Only the start, because the pattern must not scan megabytes of data.
  const head = url.startsWith('data:') ? dataUrl.exec(url.slice(0, 200)) : null
  if (head === null) return { kind: 'url', url }
  return { kind: 'base64', mediaType: head[1] ?? '', data: url.slice(head[0].length) }
}

/** A file's content: a data URL, or plain base64 of a PDF. */
export function sourceOfFileData(data: string): Source {
  const source = sourceOfUrl(data)
  return source.kind === 'url' ? { kind: 'base64', mediaType: 'application/pdf', data } : source
}

/** The schema of the cache marker in both dialects. */
export const CacheBreakpoint = Nullish(
  Type.Object(
    { ttl: Type.Optional(text('How long the cache keeps it.')) },
    { title: 'PromptCacheBreakpoint', description: 'Marks the end of a part of the prompt that is cached.' },
  ),
)

type Marked = { readonly prompt_cache_breakpoint?: { ttl?: string } | null; readonly cache_control?: unknown }

/** Shared by all parts and messages without a cache marker. */
export const unmarked: { cache?: CacheMarker } = {}

/** Decodes the cache marker. Some chat clients send Anthropic's `cache_control` instead, as for other gateways. */
export function breakpointOf({ prompt_cache_breakpoint: own, cache_control: other }: Marked): { cache?: CacheMarker } {
  const mark: unknown = own ?? other
  if (!isRecord(mark)) return unmarked
  return { cache: typeof mark['ttl'] === 'string' ? { ttl: mark['ttl'] } : {} }
}
