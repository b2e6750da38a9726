/**
 * The gateway's own event format for model responses. Every provider decodes its vendor's response into these events,
 * and every endpoint encodes these events in the caller's format. A streamed response and a whole one are the same
 * sequence:
 *
 *   start ( open(b) ( delta(b) | citation(b) )* signature(b)? close(b) )* end
 *
 * `b` is the block number. Several blocks may be open at the same time, so their events may interleave; `event-order.ts`
 * checks the order. A failure is a thrown `Fault`, never an event, because an error must not look like a normal end.
 */
import type { Vector } from './embeddings.ts'
import type { CallerFormat } from './formats.ts'
import type { ReasoningSignature } from './request.ts'

export type InferenceEvent =
  /** `usage` is what the upstream has reported so far, usually the input tokens. */
  | { readonly type: 'start'; readonly model: string; readonly usage?: Usage }
  | { readonly type: 'open'; readonly block: number; readonly part: BlockStart }
  /** Appends to a text, thinking or refusal block, or to the JSON text of a tool call's input. */
  | { readonly type: 'delta'; readonly block: number; readonly text: string }
  /** A web page that a text block cites. It may come before, between or after the deltas of the block. */
  | { readonly type: 'citation'; readonly block: number; readonly citation: Citation }
  /** Follows the last delta of a thinking block. */
  | { readonly type: 'signature'; readonly block: number; readonly signature: ReasoningSignature }
  | { readonly type: 'close'; readonly block: number }
  | InferenceEnd

export type InferenceEnd = {
  readonly type: 'end'
  readonly stopReason: StopReason
  /** The stop string of the request that ended the response. */
  readonly stopSequence?: string
  readonly usage: Usage
  /** Set by the pipeline after settlement. Providers leave it out. */
  readonly receipt?: Receipt
  /** Set by the pipeline if a check did anything other than allow the response. Providers leave it out. */
  readonly policy?: Readonly<Record<string, unknown>>
}

/** The kind of a block. Blocks are numbered 0, 1, 2 … in the order in which they open. */
export type BlockStart =
  | { readonly type: 'text' }
  | { readonly type: 'thinking' }
  | { readonly type: 'tool-call'; readonly id: string; readonly name: string }
  | { readonly type: 'refusal' }
  /**
   * A vendor's block with no equivalent in this format, such as a web search. It is complete and has no deltas. Only callers
   * of the format `dialect` get it.
   */
  | { readonly type: 'opaque'; readonly dialect: CallerFormat; readonly raw: unknown }

/** A web page that the model cites as the source of its text. */
export type Citation = {
  readonly url: string
  readonly title: string
  /** The cited passage of the page, if the upstream reports it. */
  readonly passage?: string
  /** The characters of the block's text that the page supports, `end` excluded. Absent if it supports the whole block. */
  readonly range?: { readonly start: number; readonly end: number }
  /** The vendor's proof of the citation. Its own API accepts the citation in a later request only with this value. */
  readonly proof?: string
}

export type StopReason =
  /** The model finished. */
  | 'end'
  /** The output token limit was reached. */
  | 'length'
  /** The model's context window is full. */
  | 'context-full'
  /** A stop string of the request was generated; `stopSequence` names it. */
  | 'stop-sequence'
  | 'tool-call'
  /** The model declined to answer. */
  | 'refusal'
  /** A content filter, the upstream's or the gateway's, stopped the response. */
  | 'filtered'
  /** The upstream paused a long turn; the caller may send it back to continue. */
  | 'pause'

export const tokenSources = ['reported', 'estimated'] as const
export type TokenSource = (typeof tokenSources)[number]

/**
 * Token counts in the four classes that have a price. `inputTokens` excludes both cache classes. `reasoningTokens` is a
 * part of `outputTokens`.
 */
export type Usage = {
  readonly inputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  readonly outputTokens: number
  readonly reasoningTokens: number
  /** Whether the upstream reported these counts or the gateway estimated them. */
  readonly source: TokenSource
  /** The total that the upstream reported, if it was implausible and replaced by an estimate. */
  readonly reportedTokens?: number
}

/** The price of a response. */
export type Quote = { readonly creditsUsed: number; readonly costUsd: number }

/** The price after settlement, with the balance that is left. */
export type Receipt = Quote & {
  /** Null if the caller is not metered. */
  readonly remainingCredits: number | null
}

/**
 * The events decoded from one network read. They stay together because one read then becomes one write to the caller.
 *
 * `raw` is the same content as the upstream sent it. An endpoint of the same format sends `raw` instead of encoding the
 * events (passthrough), so unknown fields, signatures and cache markers reach the caller unchanged.
 */
export type Chunk = {
  readonly events: readonly InferenceEvent[]
  readonly raw?: RawFrames | RawDocument
  /** The vectors of an embeddings response, in the order of its inputs. */
  readonly vectors?: readonly Vector[]
  /** `raw` contains the start of an opaque block whose event comes in a later chunk, when the block is complete. */
  readonly hasPendingBlock?: true
  /** Text that is in `raw` but in no event. It reaches a passthrough caller, so it is scanned separately. */
  readonly outOfBand?: readonly OutOfBandText[]
}

/** A string of a vendor's response that no event contains. */
export type OutOfBandText = {
  /** The path of its field, for example `choices.delta.audio.transcript`. */
  readonly field: string
  readonly text: string
  /**
   * True if the format defines the field as a part of a longer text, which clients concatenate. Without it the texts of
   * one field may still belong together.
   */
  readonly isDelta?: true
}

/** Complete server-sent events as the upstream wrote them, one entry per frame, without the blank line that ends it. */
export type RawFrames = {
  readonly kind: 'frames'
  readonly dialect: CallerFormat
  readonly frames: readonly RawFrame[]
}

export type RawFrame = {
  readonly event: string | undefined
  readonly data: string
  readonly template?: FrameTemplate
}

/** What frames with the same template have in common: all of their data except one text, which is a JSON string between the two. */
export type FrameTemplate = { readonly before: string; readonly after: string }

/** The JSON body of a response that was not streamed. */
export type RawDocument = {
  readonly kind: 'document'
  readonly dialect: CallerFormat
  readonly body: Readonly<Record<string, unknown>>
}

export const totalInputTokens = (usage: Usage): number =>
  usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens

export const totalTokens = (usage: Usage): number => totalInputTokens(usage) + usage.outputTokens
