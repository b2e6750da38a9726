import type { Tags } from '../../costs/tags.ts'
import type { TokenSource } from '../../inference/events.ts'
import type { SealedSample } from '../replay-sample.ts'
import type { AuditContent } from './content.ts'
import type { JsonValue, Resource } from './document.ts'
import type { EventCode } from './kinds.ts'
import type { FailedAttempt } from './request-timing.ts'
import type { VerdictFacts } from './verdict.ts'

/** What a module reports to the audit log, in the gateway's own terms. Optional members are set if they are known. */
export type EventFacts = {
  readonly code: EventCode
  readonly organizationId: string
  readonly timeMs: number
  /** One English sentence for human readers. */
  readonly message: string
  readonly requestId?: string | undefined
  readonly projectId?: string | undefined
  readonly actor?: ActorFacts | undefined
  readonly call?: CallFacts | undefined
  readonly tags?: Tags | undefined
  readonly verdict?: VerdictFacts | undefined
  readonly timing?: TimingFacts | undefined
  readonly model?: ModelFacts | undefined
  readonly change?: ChangeFacts | undefined
  readonly failure?: { readonly code: string } | undefined
  readonly resources?: readonly Resource[] | undefined
  /** Fields of this kind of event only; they go to `unmapped.gatehouse`. */
  readonly details?: { readonly [key: string]: JsonValue | undefined } | undefined
  readonly content?: AuditContent | undefined
  /** Texts for replays alone. */
  readonly sample?: SealedSample | undefined
}

export type ActorFacts = {
  /** The kind of credential, or `system` for the gateway itself. */
  readonly kind?: string | undefined
  /** The end user, as named by the caller. */
  readonly userId?: string | undefined
  /** Id of the key or token. */
  readonly credentialId?: string | undefined
}

export type CallFacts = {
  readonly method: string
  readonly path: string
  /** The format of an inference request, if the path does not tell it. */
  readonly dialect?: string | undefined
  readonly address?: string | undefined
  readonly userAgent?: string | undefined
  /** The session of the coding agent that called. */
  readonly session?: string | undefined
  readonly status?: number | undefined
  readonly latencyMs?: number | undefined
}

/** When the steps of a request ended, in microseconds since it was received. */
export type TimingFacts = {
  readonly acceptedUs: number
  readonly admittedUs?: number | undefined
  readonly checkedUs?: number | undefined
  readonly firstByteUs?: number | undefined
  readonly answeredUs?: number | undefined
  /** A duration: how long the part of the answer was held back that waited longest for its checks. */
  readonly heldBackUs?: number | undefined
  readonly totalUs: number
  readonly failedAttempts?: readonly FailedAttempt[] | undefined
}

export type ModelFacts = {
  /** `chat` if it is left out. */
  readonly operation?: string | undefined
  readonly provider: string
  readonly name: string
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly finishReasons?: readonly string[] | undefined
  readonly usageSource?: TokenSource | undefined
  /** Total tokens that the upstream reported, if that number is implausible. */
  readonly reportedTokens?: number | undefined
  readonly isStream?: boolean | undefined
  readonly creditsUsed?: number | undefined
  readonly costUsd?: number | undefined
}

/** A change of a managed resource: digests of before and after, never the text of a rule. */
export type ChangeFacts = {
  readonly type: 'policy' | 'gateway_config'
  readonly id: string
  readonly name?: string | undefined
  readonly versionBefore?: string | undefined
  readonly versionAfter?: string | undefined
  readonly digestBefore?: string | undefined
  readonly digestAfter?: string | undefined
  readonly changedFields?: readonly string[] | undefined
}
