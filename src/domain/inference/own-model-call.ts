import type { ModelTarget } from './catalogue.ts'
import type { Usage } from './events.ts'

/** A call to a model that the gateway makes for a check, such as a call to the judge. Times are by the monotonic clock. */
export type OwnModelCall = {
  readonly target: ModelTarget
  readonly startedMs: number
  readonly endedMs: number
  /** Undefined if the call failed. */
  readonly usage?: Usage | undefined
  /** The code of the fault of a call that failed. */
  readonly failure?: string | undefined
}

/** `direction` is that of the text which is checked. */
export type OnOwnModelCall = (call: OwnModelCall, direction: string) => void
