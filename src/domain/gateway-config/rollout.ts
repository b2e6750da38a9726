import { hash } from 'node:crypto'
import type { RolloutShare, SavedConfiguration } from './configuration.ts'

/** How a configuration applies to one request: enforced, or only evaluated and recorded. */
export const rolloutModes = ['enforced', 'shadow', 'canary', 'rollback'] as const
export type RolloutMode = (typeof rolloutModes)[number]

export type Rollout = { readonly mode: RolloutMode; readonly isEnforced: boolean }

/** The subject of a request. The same subject is always on the same side of a canary. */
export type RolloutSubject = {
  /** The user, else the key. */
  readonly subject: string
  /** The label in `X-Policy-Target`. */
  readonly target: string | undefined
}

/**
 * A rollback takes precedence over a shadow, a shadow over a canary. A request outside the targets of an enabled rollout is
 * not enforced: a configuration that is tried on some requests must not deny others.
 */
export function rolloutOf({ config, isRolledBack }: SavedConfiguration, subject: RolloutSubject): Rollout {
  const { shadow, canary } = config.rollout
  if (isRolledBack) return rolledBack
  if (isInShare(shadow, subject)) return shadowed
  if (isTargeted(canary, subject)) return isSampled(canary, subject) ? sampled : unsampled
  return isOutsideTargets(shadow, subject) || isOutsideTargets(canary, subject) ? shadowed : enforced
}

const rolledBack: Rollout = { mode: 'rollback', isEnforced: false }
const shadowed: Rollout = { mode: 'shadow', isEnforced: false }
const sampled: Rollout = { mode: 'canary', isEnforced: true }
const unsampled: Rollout = { mode: 'canary', isEnforced: false }
const enforced: Rollout = { mode: 'enforced', isEnforced: true }

const isInShare = (share: RolloutShare, subject: RolloutSubject): boolean =>
  isTargeted(share, subject) && isSampled(share, subject)

const isTargeted = (share: RolloutShare, subject: RolloutSubject): boolean =>
  share.enabled && !isOutsideTargets(share, subject)

const isOutsideTargets = ({ enabled, targets }: RolloutShare, { target }: RolloutSubject): boolean =>
  enabled && targets.length > 0 && (target === undefined || !targets.includes(target))

const isSampled = ({ sample_percent: percent }: RolloutShare, { subject }: RolloutSubject): boolean =>
  isInPercent(subject, percent)

/** Whether a subject is in the first percents. A higher percent includes those of a lower one. */
export const isInPercent = (subject: string, percent: number): boolean => percentileOf(subject) < percent

/** From 0 to 100, by the hash of the subject: stable over time, nodes and versions. */
export const percentileOf = (subject: string): number =>
  (Number.parseInt(hash('sha256', subject, 'hex').slice(0, 8), 16) / 0x1_0000_0000) * 100
