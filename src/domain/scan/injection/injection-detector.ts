import type { MaybePromise } from '../../../base/maybe-promise.ts'

/** From this score on a text counts as a prompt injection. */
export const injectionThreshold = 0.5

/**
 * Scores how likely a text holds a prompt injection, from 0 to 1: an instruction to the model that is meant to replace those of its
 * operator or user. May be asynchronous, so that a larger model can implement it.
 */
export type InjectionDetector = {
  /** Names the model. Equal for equal scores. */
  readonly identity: string
  score(text: string): MaybePromise<number>
}
