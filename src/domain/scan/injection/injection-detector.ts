import type { MaybePromise } from '../../../base/maybe-promise.ts'

/** The places of a request whose texts are scanned for instructions to the model that its operator did not write. */
export const injectionPlaces = ['tool_results', 'documents', 'user_text'] as const
export type InjectionPlace = (typeof injectionPlaces)[number]

/** From this score on a text counts as a prompt injection. */
export const injectionThreshold = 0.5

/** Scores how likely a text holds a prompt injection, from 0 to 1. May be asynchronous, so that a larger model can implement it. */
export type InjectionDetector = {
  /** Names the model. Equal for equal scores. */
  readonly identity: string
  score(text: string): MaybePromise<number>
}
