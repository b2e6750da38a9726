import { hash } from 'node:crypto'
import type { RolloutShare, SavedConfiguration } from './configuration.ts'

/** How a configuration holds for one request: in force, or only looked at and written down. */
export const rolloutModes = ['enforced', 'shadow', 'canary', 'rollback'] as const
export type RolloutMode = (typeof rolloutModes)[number]

export type Rollout = { readonly mode: RolloutMode; readonly isEnforced: boolean }

/** Whom a request is for: the same subject always falls on the same side of a canary. */
export type RolloutSubject = {
  /** The user, else the key. */
  readonly subject: string
  /** The label in `X-Policy-Target`. */
  readonly target: string | undefined
}

/** A spike outweighs a shadow, a shadow outweighs a canary. */
export function rolloutOf({ config, isRolledBack }: SavedConfiguration, whom: RolloutSubject): Rollout {
  const { shadow, canary } = config.rollout
  if (isRolledBack) return rolledBack
  if (isConcerned(shadow, whom)) return shadowed
  if (isTargeted(canary, whom)) return isSampled(canary, whom) ? sampled : unsampled
  return enforced
}

const rolledBack: Rollout = { mode: 'rollback', isEnforced: false }
const shadowed: Rollout = { mode: 'shadow', isEnforced: false }
const sampled: Rollout = { mode: 'canary', isEnforced: true }
const unsampled: Rollout = { mode: 'canary', isEnforced: false }
const enforced: Rollout = { mode: 'enforced', isEnforced: true }

const isConcerned = (share: RolloutShare, whom: RolloutSubject): boolean =>
  isTargeted(share, whom) && isSampled(share, whom)

const isTargeted = ({ enabled, targets }: RolloutShare, { target }: RolloutSubject): boolean =>
  enabled && (targets.length === 0 || (target !== undefined && targets.includes(target)))

const isSampled = ({ sample_percent: percent }: RolloutShare, { subject }: RolloutSubject): boolean =>
  placeOf(subject) < percent

/** From 0 up to 100, by the subject alone: stable over time, nodes and versions. */
const placeOf = (subject: string): number =>
  (Number.parseInt(hash('sha256', subject, 'hex').slice(0, 8), 16) / 0x1_0000_0000) * 100
