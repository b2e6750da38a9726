/**
 * Our own language for what a model answers. A streamed and a whole answer are the same list of events:
 *
 *   start ( open(b) delta(b)* proof(b)? close(b) )* end      blocks may be open side by side
 *
 * A failure is a thrown Fault, never an event: nothing can mistake it for an ending.
 */
import type { Dialect, ReasoningSignature } from './request.ts'

export type InferenceEvent =
  | { readonly type: 'start'; readonly model: string; readonly usage?: Usage }
  | { readonly type: 'open'; readonly block: number; readonly part: BlockStart }
  /** Text of a text, thinking or refusal block; JSON text of a tool call's input. */
  | { readonly type: 'delta'; readonly block: number; readonly text: string }
  | { readonly type: 'proof'; readonly block: number; readonly proof: ReasoningSignature }
  | { readonly type: 'close'; readonly block: number }
  | InferenceEnd

export type InferenceEnd = {
  readonly type: 'end'
  readonly stopReason: StopReason
  readonly stopSequence?: string
  readonly usage: Usage
  /** Put there by the pipeline once the answer is paid for. */
  readonly receipt?: Receipt
  /** Put there by the pipeline where a check did anything but allow the answer. */
  readonly policy?: Readonly<Record<string, unknown>>
}

/** Blocks are numbered 0, 1, 2 … in the order in which they open. */
export type BlockStart =
  | { readonly type: 'text' }
  | { readonly type: 'thinking' }
  | { readonly type: 'tool-call'; readonly id: string; readonly name: string }
  | { readonly type: 'refusal' }
  /** A finished block that only its own dialect understands; it has no deltas. */
  | { readonly type: 'opaque'; readonly dialect: Dialect; readonly raw: unknown }

export type StopReason =
  | 'end'
  | 'length'
  | 'context-full'
  | 'stop-sequence'
  | 'tool-call'
  | 'refusal'
  | 'filtered'
  | 'pause'

export const tokenSources = ['reported', 'estimated'] as const
export type TokenSource = (typeof tokenSources)[number]

/** The four token classes that have a price. `inputTokens` leaves the cached ones out; `reasoningTokens` are part of the output. */
export type Usage = {
  readonly inputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  readonly outputTokens: number
  readonly reasoningTokens: number
  /** Counted by the upstream, or by us because it did not say. */
  readonly source: TokenSource
  /** What the upstream reported in all, where that cannot be true and our own count stands in its place. */
  readonly reportedTokens?: number
}

/** What an answer costs its caller. */
export type Quote = { readonly creditsUsed: number; readonly costUsd: number }

/** The same once it is paid for. */
export type Receipt = Quote & {
  /** Null where nothing is metered. */
  readonly remainingCredits: number | null
}

/**
 * What arrived together, so that it can leave together: one read, one write.
 * A door that speaks `original.dialect` may send the upstream's own words instead of spelling the events anew.
 */
export type Chunk = {
  readonly events: readonly InferenceEvent[]
  readonly original?: RawFrames | RawDocument
  /** Its frames say more than events have told so far: a block has begun that a later piece tells of as a whole. */
  readonly isAhead?: true
  /** What the upstream's own words say and no event tells of. */
  readonly asides?: readonly OutOfBandText[]
}

/** A string in an upstream's own words, and the field in which it stands. */
export type OutOfBandText = {
  readonly place: string
  readonly text: string
  /** By the format it is a piece of a text, which clients join. Other strings of one field may be pieces all the same. */
  readonly isPiece?: true
}

/** Whole server-sent events as the upstream wrote them, one entry per frame, without the blank line that ends it. */
export type RawFrames = {
  readonly kind: 'frames'
  readonly dialect: Dialect
  readonly frames: readonly RawFrame[]
}

export type RawFrame = { readonly event: string | undefined; readonly data: string }

/** The whole JSON answer of an upstream that was not asked to stream. */
export type RawDocument = {
  readonly kind: 'document'
  readonly dialect: Dialect
  readonly body: Readonly<Record<string, unknown>>
}

export const totalInputTokens = (usage: Usage): number =>
  usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens

export const totalTokens = (usage: Usage): number => totalInputTokens(usage) + usage.outputTokens
